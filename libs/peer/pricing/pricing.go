// Package pricing is the peer side of the pricing service: the types and the client of its internal API.
package pricing

import (
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/timespan"
)

// Kinds of priced things.
const (
	KindService = "service"
	KindEvent   = "event" // one ticket of a tier
	KindRental  = "rental"
)

// KindPackage is the kind of the [Step] that a package is.
const KindPackage = "package"

// MaxItems bounds the items of one [QuotesRequest].
const MaxItems = 10_000

// QuotesRequest asks for the prices of many items of one business at once (POST /internal/quotes), at most [MaxItems].
type QuotesRequest struct {
	Slug         string    `json:"slug"`
	OfferVersion int64     `json:"offer_version"` // quoted on this version or a newer one
	PurchaseAt   time.Time `json:"purchase_at"`   // the moment of purchase
	Items        []Item    `json:"items"`
	OmitSteps    bool      `json:"omit_steps,omitempty"` // leave out Quote.Steps, where only prices are shown
	// Together says that the items are the services of one appointment, sold by the business itself: where they are one of its packages, their
	// prices are their shares of the package's.
	Together bool `json:"together,omitempty"`
}

// Tenant is the business's slug.
func (r QuotesRequest) Tenant() string { return r.Slug }

// Item is one unit to price. What is left out is not known yet: rules that need it do not apply (semantics.md §5).
type Item struct {
	Kind         string              `json:"kind"`
	ID           uuid.UUID           `json:"id"`                      // service, event or rental
	TierID       *uuid.UUID          `json:"tier_id,omitempty"`       // event: required
	VariantID    *uuid.UUID          `json:"variant_id,omitempty"`    // service
	Date         timespan.Date       `json:"date"`                    // booking date; an event has its own, whatever stands here
	Start        *timespan.TimeOfDay `json:"start,omitempty"`         // 00:00 to 23:59; an event has its own
	PartySize    *int                `json:"party_size,omitempty"`    // from 1 on
	FirstBooking *bool               `json:"first_booking,omitempty"` // no earlier booking by this customer
	Units        *int                `json:"units,omitempty"`         // rental: hours or days, from 1 on
}

// QuotesResponse holds one quote for each item, in the same order.
type QuotesResponse struct {
	OfferVersion int64   `json:"offer_version"`
	Currency     string  `json:"currency"`
	Quotes       []Quote `json:"quotes"`
	// ValidUntil is the first instant after the moment of purchase at which the same question may be answered by other prices;
	// left out where time changes none of the rules.
	ValidUntil *time.Time `json:"valid_until,omitempty"`
	// Package is the package that the items are; null where they are none, or were not asked for together.
	Package *Package `json:"package,omitempty"`
}

// Package is what makes services cheaper that are sold together.
type Package struct {
	ID         uuid.UUID `json:"id"`
	Separately int64     `json:"separately"` // what they cost one by one, after the rules
}

// Quote is an itemised price in minor units. Priced is false for a free item, whose Price is 0.
type Quote struct {
	Priced bool   `json:"priced"`
	List   int64  `json:"list"`
	Price  int64  `json:"price"`
	Steps  []Step `json:"steps,omitempty"`
	// Quantity is how many units Price is of, where the item is priced per person and its party has several; left out for one.
	// Unit is the price of one of them, before the rules that go by the size of the party.
	Quantity int   `json:"quantity,omitempty"`
	Unit     int64 `json:"unit,omitempty"`
}

// Step is one rule at work, or the package after all rules: the running price before and after it, as exact decimals of the currency.
type Step struct {
	Rule   string `json:"rule"` // its key, or the package's
	Kind   string `json:"kind"` // the rule's, or [KindPackage]
	Before string `json:"before"`
	After  string `json:"after"`
}
