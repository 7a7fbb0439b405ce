// Package plan is what publishing an offer would change, and what lies ahead that it could not take: values that the admin API answers, and
// the command and the owner's pages show.
package plan

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/manifest"
	"github.com/slotmesh/slotmesh/libs/peer/availability"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/rental"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/changes"
)

// Plan is what publishing a manifest would change.
type Plan struct {
	Version     int64            `json:"version"`      // the newest, with which it is compared
	Changes     []changes.Change `json:"changes"`      // by path
	MoreChanges int              `json:"more_changes"` // that are not listed
	Outside     Outside          `json:"outside"`
	Erases      *Erases          `json:"erases,omitempty"` // left out where privacy.keep_customers_days is not lowered
	// Warnings are of the manifest that would be published; it could be nonetheless.
	Warnings []manifest.Problem `json:"warnings"`
	// Kept is set where the manifest changes the time zone or the currency, and something that lies ahead keeps those it was sold in.
	Kept *Kept `json:"kept,omitempty"`
}

// Kept counts what lies ahead and keeps the time zone and the currency in which it was sold.
type Kept struct {
	Bookings     int `json:"bookings"`
	Tickets      int `json:"tickets"` // single ones
	Reservations int `json:"reservations"`
}

// Count is how many that are.
func (k *Kept) Count() int { return k.Bookings + k.Tickets + k.Reservations }

// ErasesCustomers reports whether publishing removes data of customers.
func (p *Plan) ErasesCustomers() bool { return p.Erases != nil && p.Erases.Customers > 0 }

// Erases says whose data is removed within an hour when privacy.keep_customers_days is lowered.
type Erases struct {
	KeepCustomersDays int  `json:"keep_customers_days"`
	Before            int  `json:"keep_customers_days_before"`
	Customers         int  `json:"customers"`
	More              bool `json:"more"` // there are more customers than were counted
}

// Outside is what lies ahead and could not be taken as it is under the new offer. Each list holds at most [MostListed].
type Outside struct {
	Count        int              `json:"count"`   // of all that is outside
	Already      int              `json:"already"` // of them, that are outside the newest version, too
	Bookings     []Booking        `json:"bookings"`
	Reservations []rental.Outside `json:"reservations"`
	Tickets      []Tickets        `json:"tickets"`
	More         int              `json:"more"` // that are not listed
	// Unexamined says that more bookings or reservations lie ahead than are looked at, the nearest first.
	Unexamined bool `json:"unexamined"`
}

// New is how many are outside because of what is changed.
func (o *Outside) New() int { return o.Count - o.Already }

// Add counts something that is outside.
func (o *Outside) Add(already bool) {
	if o.Count++; already {
		o.Already++
	}
}

// Booking is a booking that could not be booked as it is.
type Booking struct {
	Booking booking.Booking     `json:"booking"`
	Reason  availability.Reason `json:"reason"`
	Already bool                `json:"already"`
}

// Tickets are the tickets that are sold of an event, or of one of its tiers.
type Tickets struct {
	EventID uuid.UUID           `json:"event_id"`
	TierID  uuid.UUID           `json:"tier_id,omitzero"` // left out, as tier_name: of the whole event
	Event   string              `json:"event_name"`
	Tier    string              `json:"tier_name,omitempty"`
	Date    timespan.Date       `json:"date"` // of the event, as the tickets say
	Sold    int                 `json:"sold"`
	Reason  availability.Reason `json:"reason"`
	Already bool                `json:"already"`
}

// MostListed bounds each list of a [Outside].
const MostListed = 200
