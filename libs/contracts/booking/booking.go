// Package booking holds the types of the internal API of the booking service. It does no I/O,
// so that packages without I/O may import it. The client is in libs/contracts/bookingclient.
package booking

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/postal"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Resource is something that a booking can occupy. If Lane is 0, the resource is the staff member with the id ID.
// If Lane is 1, 2, …, the resource is one capacity unit of the service with the id ID, which needs no staff member.
type Resource struct {
	ID           uuid.UUID `json:"id"`
	CapacityUnit int       `json:"lane,omitempty"`
}

// Occupied is the time, with buffers, that the active bookings of one business occupy
// within the requested window. Services send it to each other in the binary form of
// [Occupied.AppendBinary]. A JSON document contains this binary form in base64.
type Occupied struct {
	Busy []Busy
	// Seats are the booked seats of class sessions that start within
	// the window. They are present only if the request asked for them.
	Seats []SeatsTaken
}

// OccupiedQuery selects the data that the booking service returns in addition to the occupied time.
type OccupiedQuery struct {
	Seats bool // the booked seats of class sessions that start within the window
	// Locations requests the fields of [Busy] about locations. Without it, these fields have their zero values.
	Locations bool
	Except    *uuid.UUID // the booking to reschedule, whose time is left out; nil leaves out none
}

// Busy is the occupied time of one resource. Edges holds the start and the end of each span in turn, sorted, in
// seconds since the epoch. The end is exclusive. A span may begin before the requested window or end after it.
type Busy struct {
	Resource
	// Class reports that the time belongs to class sessions, whose guests share the time.
	// The time then prevents appointments, but not further bookings of the same session.
	Class bool
	Edges []int64

	// LocationID is the location of the bookings. The nil UUID means the default location of
	// the business, at which bookings without a stored location take place.
	LocationID uuid.UUID
	// ChangeMinutes is the setting location_change_minutes at the time of the sale. Between two bookings of one staff
	// member at different locations, at least the larger ChangeMinutes of the two must be free.
	ChangeMinutes int
	// Served holds the time of the services, without buffers, in the form of Edges. It has one span for each span in
	// Edges. Nil means that the buffers are unknown; then the time in Edges counts as the time of the services.
	Served []int64
}

// SeatsTaken is the number of seats that active bookings take in one occurrence of a class session.
type SeatsTaken struct {
	SessionID uuid.UUID
	StartsAt  int64 // seconds since the epoch
	Taken     int
}

// Add appends a span. The caller must add the spans of a resource in the order of their starts.
func (b *Busy) Add(s timespan.Span) { b.Edges = append(b.Edges, s.Start, s.End) }

// Spans returns the occupied time as spans.
func (b Busy) Spans() []timespan.Span {
	spans := make([]timespan.Span, 0, len(b.Edges)/2)
	for i := 0; i+1 < len(b.Edges); i += 2 {
		spans = append(spans, timespan.Span{Start: b.Edges[i], End: b.Edges[i+1]})
	}
	return spans
}

// Occurrence identifies one occurrence of a class session.
type Occurrence struct {
	SessionID uuid.UUID
	StartsAt  int64 // seconds since the epoch
}

// SeatsByOccurrence returns the number of booked seats of each
// occurrence. An occurrence without booked seats has no entry.
func (o Occupied) SeatsByOccurrence() map[Occurrence]int {
	seats := make(map[Occurrence]int, len(o.Seats))
	for _, s := range o.Seats {
		seats[Occurrence{s.SessionID, s.StartsAt}] += s.Taken
	}
	return seats
}

// The scopes of an API key (interface.md §5).
const (
	ScopeRead  = "read"
	ScopeWrite = "write"
	ScopeAll   = "all"
)

// PublishedOffer is the request that catalog sends after each publication. The booking
// service must no longer use versions of the offer that are older than Version.
type PublishedOffer struct {
	Version int64 `json:"version"`
}

// NewKey requests a new API key.
type NewKey struct {
	Name      string     `json:"name"`
	Scope     string     `json:"scope"`
	ExpiresAt *time.Time `json:"expires_at"`
}

// Key is an API key as the owner sees it. Secret is set only in the response to the request that created the key.
type Key struct {
	ID         uuid.UUID  `json:"id"`
	Name       string     `json:"name"`
	Scope      string     `json:"scope"`
	Secret     string     `json:"key,omitempty"`
	Prefix     string     `json:"prefix"`
	CreatedAt  time.Time  `json:"created_at"`
	CreatedBy  *uuid.UUID `json:"created_by"` // id of the person or token that created the key; null: unknown
	ExpiresAt  *time.Time `json:"expires_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
	RevokedAt  *time.Time `json:"revoked_at"`
}

// KeyList is one page of API keys. NextCursor is empty on the last page.
type KeyList struct {
	Keys       []Key  `json:"keys"`
	NextCursor string `json:"next_cursor,omitempty"`
}

// Booking is a booking as the owner sees it.
type Booking struct {
	ID     uuid.UUID `json:"id"`
	Status string    `json:"status"`
	// Date is YYYY-MM-DD; StartTime and EndTime are HH:MM:SS. They
	// are local times, as the messages to the customer state them.
	Date      string    `json:"date"`
	StartTime string    `json:"start_time"`
	EndTime   string    `json:"end_time"`
	StartsAt  time.Time `json:"starts_at"` // start and end of the booking as instants
	EndsAt    time.Time `json:"ends_at"`
	// Timezone is the time zone of the business at the time of the
	// sale. If it is "", the current zone of the business applies.
	Timezone  string          `json:"timezone"`
	Services  []BookedService `json:"services"`
	StaffID   *uuid.UUID      `json:"staff_id"`
	StaffName *string         `json:"staff_name"`
	// ClassScheduleID is the id of the booked class session. It is null for an appointment.
	ClassScheduleID *uuid.UUID      `json:"class_schedule_id"`
	PartySize       int             `json:"party_size"`
	Total           json.Number     `json:"total"`
	Currency        string          `json:"currency"`
	Source          string          `json:"source"`
	CustomerName    string          `json:"customer_name"`
	CustomerEmail   string          `json:"customer_email"`
	CustomerPhone   *string         `json:"customer_phone"`
	FormData        json.RawMessage `json:"form_data"`
	Locale          string          `json:"locale"` // language of the customer, one of the business's languages
	CreatedAt       time.Time       `json:"created_at"`
	UpdatedAt       time.Time       `json:"updated_at"`
	// Sequence is the sequence number of the newest event of the booking. It
	// is 0 while the provider has not opened the booking's online payment yet.
	Sequence int      `json:"sequence"`
	Payment  *Payment `json:"payment"` // null: the booking has no online payment

	// StaffRequested reports that the customer chose this staff member instead of any free one.
	StaffRequested bool   `json:"staff_requested"`
	IsPackage      bool   `json:"is_package"`
	StaffingMode   string `json:"staffing_mode,omitempty"` // per_service; otherwise omitted
	Withdrawn      bool   `json:"withdrawn"`               // the business has withdrawn the booked class session
	// Location is where the booking takes place, as it was at the time of the sale. It is
	// omitted if the business had no locations at that time.
	Location *BookedLocation `json:"location,omitempty"`
	// CustomerAddress is the address at which the booking takes place. It is present only
	// for a location of the kind customer_address, until the customer is anonymized.
	CustomerAddress *CustomerAddress `json:"customer_address,omitempty"`
	// Warnings are the rules for customers that this booking by the owner breaks. They
	// are present only in the response to the request that booked or rescheduled.
	Warnings []Warning `json:"warnings,omitempty"`
	// ManageURL is the customer's link to the booking. It is present only in the response to the request that booked.
	ManageURL string `json:"manage_url,omitempty"`
	// CheckoutURL is the payment page of the provider. It is present
	// only in the response to a request of the booking page.
	CheckoutURL string `json:"checkout_url,omitempty"`
}

// Warning is a rule for customers that the owner's booking or reservation breaks. Code is
// the error code that a customer would get for the same request. Message is one sentence.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// CanFinish reports whether a booking may be marked as completed or no-show. Both are allowed from the
// beginning of the booking's date on (lifecycle.md §4). The argument `date` is the date of the
// booking; `today` is the current date. Both dates are in the time zone in which the booking was sold.
func CanFinish(date, today timespan.Date) bool { return today >= date }

// CanReopen reports whether a completed or no-show booking may be reopened. Reopening is allowed
// until the end of the day after the booking's date. The argument `date` is the date of the booking;
// `today` is the current date. Both dates are in the time zone in which the booking was sold.
func CanReopen(date, today timespan.Date) bool { return today <= date+1 }

// BookedService is one service of a booking, as it was at the time of the sale.
type BookedService struct {
	ID              uuid.UUID   `json:"id"`
	Name            string      `json:"name"`
	VariantID       uuid.UUID   `json:"variant_id,omitzero"` // omitted, like variant_name, without a variant
	VariantName     string      `json:"variant_name,omitempty"`
	DurationMinutes int         `json:"duration_minutes"`
	Price           json.Number `json:"price"`
	StaffID         *uuid.UUID  `json:"staff_id,omitempty"` // staff member of the service; only with staff per service
	// Quantity is the number of people for whom the service was sold, if its price is per
	// person and the number is above 1. Otherwise quantity and unit_price are omitted.
	Quantity int `json:"quantity,omitempty"`
	// UnitPrice is the price for one person, before the pricing rules that depend on the party size.
	UnitPrice json.Number `json:"unit_price,omitempty"`
	// PriceChanges are the pricing rules that changed the price, in the order
	// of their application. The field is omitted if no rule changed the price.
	PriceChanges []PriceChange `json:"price_changes,omitempty"`
	// PackageName is the name of the package in which the service
	// was sold. It is omitted if the service was sold alone.
	PackageName string `json:"package_name,omitempty"`
}

// PerformedBy returns the start and the end of the part of the booking that a staff member performs. In a
// package with staff per service, this part runs from the member's first service to the member's last. In all
// other bookings, this part is the whole booking. If the member performs no part, the last result is false.
func (b *Booking) PerformedBy(member uuid.UUID) (time.Time, time.Time, bool) {
	start, end, found := time.Time{}, time.Time{}, false
	at, hasParts := b.StartsAt, false
	for _, s := range b.Services {
		until := at.Add(time.Duration(s.DurationMinutes) * time.Minute)
		if s.StaffID != nil {
			hasParts = true
			if *s.StaffID == member && !found {
				start, found = at, true
			}
			if *s.StaffID == member {
				end = until
			}
		}
		at = until
	}
	if !hasParts && b.StaffID != nil && *b.StaffID == member {
		return b.StartsAt, b.EndsAt, true
	}
	return start, end, found
}

// PriceChange is a pricing rule that changed a price at the time of the sale.
type PriceChange struct {
	Rule  string `json:"rule"` // key of the rule in the offer
	Kind  string `json:"kind"`
	Label string `json:"label" jsonschema:"what the customer reads, in the language of the booking"`
}

// BookingList is one page of bookings. NextCursor is empty on the last page.
type BookingList struct {
	Bookings   []Booking `json:"bookings"`
	NextCursor string    `json:"next_cursor,omitempty"`
}

// AheadCount is the number of future bookings, or of future orders of tickets.
type AheadCount struct {
	Count int `json:"count"`
}

// The statuses of a booking (semantics.md §3).
const (
	StatusPending   = "pending"
	StatusConfirmed = "confirmed"
	StatusCompleted = "completed"
	StatusNoShow    = "no_show"
	StatusCancelled = "cancelled"
)

// The transitions of a booking that the owner can request. Each is the last segment of the URL path of its request.
const (
	TransitionConfirm  = "confirm"
	TransitionCancel   = "cancel"
	TransitionComplete = "complete"
	TransitionNoShow   = "no-show"
	TransitionReopen   = "reopen" // reverts the transition complete or no-show
)

// CheckedKey is the response to the check of an API key that is valid now.
type CheckedKey struct {
	BusinessID uuid.UUID `json:"business_id"`
	ID         uuid.UUID `json:"id"`
	Scope      string    `json:"scope"` // one of the Scope… values
}

// MaxOccupiedWindow is the maximal length of the window in one request GET …/occupied.
// This maximum is the longest window of a calendar, 62 days, with a margin on both sides.
const MaxOccupiedWindow = 80 * 24 * time.Hour

// BookedLocation is the location of a booking, as it was at the time of the sale. Messages and
// pages show the newest address of the location, which is in the snapshot of the business.
type BookedLocation struct {
	ID   uuid.UUID `json:"id"`
	Kind string    `json:"kind"` // place, link, phone or customer_address
	Name string    `json:"name"`
	// Link is the link to an online meeting. It is present only for the kind link,
	// while the booking is confirmed and all that is due online is paid.
	Link string `json:"link,omitempty"`
}

// CustomerAddress is the address of a customer at which a booking takes place. It is customer data.
type CustomerAddress struct {
	postal.Address
	// Note describes how to find the customer, for example the floor. It may be empty.
	Note string `json:"note,omitempty"`
}
