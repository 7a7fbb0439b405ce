// Package plan has types for the preview of a publication: the changes that publishing a manifest would make, and the
// future bookings that would conflict with the new offer. The admin API returns these types. The slotmesh command and
// the owner's pages show the values of these types.
package plan

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/changes"
)

// Plan is the preview of a publication: it describes the changes that publishing a manifest would make.
type Plan struct {
	Version     int64            `json:"version"`      // number of the newest version, the basis of the plan
	Changes     []changes.Change `json:"changes"`      // sorted by Path
	MoreChanges int              `json:"more_changes"` // number of changes that Changes omits
	Conflicts   Conflicts        `json:"outside"`
	Erasure     *Erasure         `json:"erases,omitempty"` // nil unless the manifest lowers privacy.keep_customers_days
	// Warnings are the warnings about the manifest to publish. Warnings do not prevent publishing.
	Warnings []manifest.Problem `json:"warnings"`
	// Kept counts the future sales that keep the old time zone and currency. Kept is nil if the manifest changes
	// neither the time zone nor the currency of the business, or if there are no future sales.
	Kept *KeptSales `json:"kept,omitempty"`
	// Relocated is the number of customers with future bookings at places whose address the manifest changes.
	Relocated int `json:"customers_at_changed_address,omitempty"`
}

// KeptSales counts the future bookings, tickets and reservations that keep the time zone and the currency in which they
// were sold.
type KeptSales struct {
	Bookings     int `json:"bookings"`
	Tickets      int `json:"tickets"` // single tickets, not orders
	Reservations int `json:"reservations"`
}

// Count returns the number of all future sales: the sum of Bookings, Tickets and Reservations.
func (k *KeptSales) Count() int { return k.Bookings + k.Tickets + k.Reservations }

// ErasesCustomers reports whether publishing the manifest would remove customers' data.
func (p *Plan) ErasesCustomers() bool { return p.Erasure != nil && p.Erasure.Customers > 0 }

// Erasure describes the data that is removed if the manifest lowers privacy.keep_customers_days. The data is removed
// within one hour after the manifest was published.
type Erasure struct {
	KeepCustomersDays int  `json:"keep_customers_days"`
	Before            int  `json:"keep_customers_days_before"`
	Customers         int  `json:"customers"`
	HasMore           bool `json:"more"` // true if there are more customers than Customers counts
}

// Conflicts lists the future bookings, reservations and tickets that would conflict with the new offer. Each list has
// at most [MaxListed] entries.
type Conflicts struct {
	Count        int               `json:"count"`   // number of all conflicts, also of those that are not listed
	Existing     int               `json:"already"` // number of these conflicts that the newest version already has
	Bookings     []Booking         `json:"bookings"`
	Reservations []rental.Conflict `json:"reservations"`
	Tickets      []Tickets         `json:"tickets"`
	Omitted      int               `json:"more"` // number of conflicts that are not listed
	// IsIncomplete means that the business has more future bookings or reservations than the check reads. The check
	// then covers only the bookings and reservations that begin first.
	IsIncomplete bool `json:"unexamined"`
}

// CountNew returns the number of conflicts that publishing would cause. CountNew leaves out the conflicts that the
// newest version already has.
func (o *Conflicts) CountNew() int { return o.Count - o.Existing }

// CountNewBookings returns the number of listed bookings among the conflicts that publishing would cause.
func (o *Conflicts) CountNewBookings() int {
	n := 0
	for _, b := range o.Bookings {
		if !b.IsExisting {
			n++
		}
	}
	return n
}

// Add counts one conflict. The argument `isExisting` is true if the newest version already has the conflict.
func (o *Conflicts) Add(isExisting bool) {
	if o.Count++; isExisting {
		o.Existing++
	}
}

// Booking is a booking that conflicts with the new offer: the offer would not accept the booking's time, service or
// member.
type Booking struct {
	Booking    booking.Booking     `json:"booking"`
	Reason     availability.Reason `json:"reason"`
	IsExisting bool                `json:"already"`
}

// Tickets has the number of sold tickets that would conflict with the new offer, for a whole event or for one tier.
type Tickets struct {
	EventID    uuid.UUID           `json:"event_id"`
	TierID     uuid.UUID           `json:"tier_id,omitzero"` // omitted, as tier_name is, if the whole event conflicts
	Event      string              `json:"event_name"`
	Tier       string              `json:"tier_name,omitempty"`
	Date       timespan.Date       `json:"date"` // date of the event, as printed on the tickets
	Sold       int                 `json:"sold"`
	Reason     availability.Reason `json:"reason"`
	IsExisting bool                `json:"already"`
}

// MaxListed is the maximum length of each list in [Conflicts].
const MaxListed = 200
