// Package pricing is the client of the internal API of the pricing
// service. It defines the types of requests and responses.
package pricing

import (
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// The kinds of items that can be priced.
const (
	KindService = "service"
	KindEvent   = "event" // one ticket of a tier
	KindRental  = "rental"
)

// KindPackage is the kind of a [Step] that changes the price to that of a package.
const KindPackage = "package"

// MaxItems is the maximal number of items in one [QuotesRequest].
const MaxItems = 10_000

// QuotesRequest requests the prices of at most [MaxItems] items of one business (POST /internal/quotes).
type QuotesRequest struct {
	Slug         string    `json:"slug"`
	OfferVersion int64     `json:"offer_version"` // the response is computed from this version or a newer one
	PurchaseAt   time.Time `json:"purchase_at"`   // time of the sale
	Items        []Item    `json:"items"`
	OmitSteps    bool      `json:"omit_steps,omitempty"` // leaves out the steps of the quotes
	// Together reports that the items are the services of one appointment. If these services form
	// a package of the business, the price of each item is its share of the price of the package.
	Together bool `json:"together,omitempty"`
}

// Tenant returns the slug of the business.
func (r QuotesRequest) Tenant() string { return r.Slug }

// Item is one thing to price. The value of an omitted field is unknown;
// pricing rules that depend on this value do not apply (semantics.md §5).
type Item struct {
	Kind      string     `json:"kind"`
	ID        uuid.UUID  `json:"id"`                   // id of the service, event or rental
	TierID    *uuid.UUID `json:"tier_id,omitempty"`    // required for an event
	VariantID *uuid.UUID `json:"variant_id,omitempty"` // for a service
	// Date is the local date of the booking. It is ignored for an event, which has its own date.
	Date         timespan.Date       `json:"date"`
	Start        *timespan.TimeOfDay `json:"start,omitempty"`         // 00:00 to 23:59; ignored for an event
	PartySize    *int                `json:"party_size,omitempty"`    // at least 1
	FirstBooking *bool               `json:"first_booking,omitempty"` // the customer has no earlier booking
	Units        *int                `json:"units,omitempty"`         // rental: hours or days, at least 1
}

// QuotesResponse holds one quote for each item, in the order of the request.
type QuotesResponse struct {
	OfferVersion int64   `json:"offer_version"`
	Currency     string  `json:"currency"`
	Quotes       []Quote `json:"quotes"`
	// ValidUntil is the first instant after PurchaseAt at which the same request may return
	// other prices. It is omitted if no pricing rule depends on the time of the sale.
	ValidUntil *time.Time `json:"valid_until,omitempty"`
	// Package is the package that the items form. It is null if
	// they form no package, or if Together is false in the request.
	Package *Package `json:"package,omitempty"`
}

// Package identifies a package of services.
type Package struct {
	ID         uuid.UUID `json:"id"`
	Separately int64     `json:"separately"` // sum of the single prices after the pricing rules
}

// Quote is the price of an item, in minor units. List is the list price. Price is
// the price after the pricing rules and the package; Steps are the effects of these
// rules and of the package. If the item is free, Priced is false and Price is 0.
type Quote struct {
	Priced bool   `json:"priced"`
	List   int64  `json:"list"`
	Price  int64  `json:"price"`
	Steps  []Step `json:"steps,omitempty"`
	// Quantity is the number of people. It is omitted if the price is not charged per person, or if there is only
	// one person. Unit is the price for one person, before the pricing rules that depend on the number of people.
	Quantity int   `json:"quantity,omitempty"`
	Unit     int64 `json:"unit,omitempty"`
}

// Step is the effect of one pricing rule on a price. The last step can be the effect of a package.
// Before and After are the prices before and after the step, as exact decimal numbers in the currency.
type Step struct {
	Rule   string `json:"rule"` // key of the rule or of the package
	Kind   string `json:"kind"` // kind of the rule, or [KindPackage]
	Before string `json:"before"`
	After  string `json:"after"`
}
