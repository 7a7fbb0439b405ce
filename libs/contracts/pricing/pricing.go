// Package pricing is the client of pricing's internal API, with its types.
package pricing

import (
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Kinds of items with a price.
const (
	KindService = "service"
	KindEvent   = "event" // one ticket of a tier
	KindRental  = "rental"
)

// KindPackage is the kind of the [Step] of a package.
const KindPackage = "package"

// MaxItems bounds the items of one [QuotesRequest].
const MaxItems = 10_000

// QuotesRequest asks for the prices of many items of one business at once (POST /internal/quotes), at most [MaxItems].
type QuotesRequest struct {
	Slug         string    `json:"slug"`
	OfferVersion int64     `json:"offer_version"` // the version to use, or a newer one
	PurchaseAt   time.Time `json:"purchase_at"`   // the moment of purchase
	Items        []Item    `json:"items"`
	OmitSteps    bool      `json:"omit_steps,omitempty"` // omits Quote.Steps
	// Together reports that the items are the services of one appointment with the business. If the
	// services form a package of the business, each price is the service's share of the package's price.
	Together bool `json:"together,omitempty"`
}

// Tenant returns the business's slug.
func (r QuotesRequest) Tenant() string { return r.Slug }

// Item is one unit to price. An omitted field is unknown, and rules that need it do not apply (semantics.md §5).
type Item struct {
	Kind      string     `json:"kind"`
	ID        uuid.UUID  `json:"id"`                   // service, event or rental
	TierID    *uuid.UUID `json:"tier_id,omitempty"`    // event: required
	VariantID *uuid.UUID `json:"variant_id,omitempty"` // service
	// Date is the booking date. It is ignored for an event, which has its own.
	Date         timespan.Date       `json:"date"`
	Start        *timespan.TimeOfDay `json:"start,omitempty"`         // 00:00 to 23:59; ignored for an event
	PartySize    *int                `json:"party_size,omitempty"`    // at least 1
	FirstBooking *bool               `json:"first_booking,omitempty"` // the customer has no earlier booking
	Units        *int                `json:"units,omitempty"`         // rental: hours or days, at least 1
}

// QuotesResponse holds one quote per item, in the same order.
type QuotesResponse struct {
	OfferVersion int64   `json:"offer_version"`
	Currency     string  `json:"currency"`
	Quotes       []Quote `json:"quotes"`
	// ValidUntil is the first instant after the sale at which the same request
	// may give other prices. It is omitted if no rule depends on the time.
	ValidUntil *time.Time `json:"valid_until,omitempty"`
	// Package is the package that the items form; null if they form none, or if Together was not set.
	Package *Package `json:"package,omitempty"`
}

// Package is the package of services that are sold together.
type Package struct {
	ID         uuid.UUID `json:"id"`
	Separately int64     `json:"separately"` // sum of the single prices after the rules
}

// Quote is an itemised price in minor units. For a free item Priced is false and Price is 0.
type Quote struct {
	Priced bool   `json:"priced"`
	List   int64  `json:"list"`
	Price  int64  `json:"price"`
	Steps  []Step `json:"steps,omitempty"`
	// Quantity is the number of units in Price, if the price is per person for more than one person; otherwise
	// it is omitted. Unit is the price of one unit before the rules that depend on the number of people.
	Quantity int   `json:"quantity,omitempty"`
	Unit     int64 `json:"unit,omitempty"`
}

// Step is the effect of one pricing rule on a price. The last step can be the effect of the package.
// Before and After are the prices before and after the step, as exact decimals in the currency.
type Step struct {
	Rule   string `json:"rule"` // key of the rule or the package
	Kind   string `json:"kind"` // kind of the rule, or [KindPackage]
	Before string `json:"before"`
	After  string `json:"after"`
}
