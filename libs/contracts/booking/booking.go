// Package booking holds the types of the booking service's internal API. It has no client and
// does no I/O, so that packages without I/O may import it. The client is libs/contracts/bookingclient.
package booking

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Resource is something that a booking occupies. It is a staff member, with Lane 0, or one capacity
// unit of a service without staff, with Lane 1, 2, …. ID is the id of the member or of the service.
type Resource struct {
	ID   uuid.UUID `json:"id"`
	Lane int       `json:"lane,omitempty"`
}

// Occupied is the time, with buffers, that the active bookings of one business occupy within a window. It is
// sent in the binary form of [Occupied.AppendBinary]. In a JSON document, the binary form is encoded as base64.
type Occupied struct {
	Busy []Busy
	// Seats are the booked seats of class sessions that start within the window, if the request asked for them.
	Seats []SeatsTaken
}

// Busy is the occupied time of one resource. Edges holds the start and the end of each span in turn, in seconds
// since the epoch, sorted; the end is exclusive. A span can begin before the requested window or end after it.
type Busy struct {
	Resource
	// Class marks time that the guests of a class session share. It prevents appointments, but not class sessions.
	Class bool
	Edges []int64
}

// SeatsTaken is the number of seats that active bookings take of one occurrence of a class session.
type SeatsTaken struct {
	SessionID uuid.UUID
	StartsAt  int64 // seconds since the epoch
	Taken     int
}

// Add appends a span. Spans of a resource must be added in order of their start.
func (b *Busy) Add(s timespan.Span) { b.Edges = append(b.Edges, s.Start, s.End) }

// Spans returns the edges as spans.
func (b Busy) Spans() []timespan.Span {
	spans := make([]timespan.Span, 0, len(b.Edges)/2)
	for i := 0; i+1 < len(b.Edges); i += 2 {
		spans = append(spans, timespan.Span{Start: b.Edges[i], End: b.Edges[i+1]})
	}
	return spans
}

// Occurrence is one occurrence of a class session.
type Occurrence struct {
	SessionID uuid.UUID
	StartsAt  int64 // seconds since the epoch
}

// SeatsByOccurrence returns the number of booked seats of each occurrence that has any.
func (o Occupied) SeatsByOccurrence() map[Occurrence]int {
	taken := make(map[Occurrence]int, len(o.Seats))
	for _, s := range o.Seats {
		taken[Occurrence{s.SessionID, s.StartsAt}] += s.Taken
	}
	return taken
}

// Scopes of an API key (interface.md §5).
const (
	ScopeRead  = "read"
	ScopeWrite = "write"
	ScopeAll   = "all"
)

// PublishedOffer is the message of catalog after a publication: booking must not use an offer of an older version.
type PublishedOffer struct {
	Version int64 `json:"version"`
}

// NewKey asks for an API key.
type NewKey struct {
	Name      string     `json:"name"`
	Scope     string     `json:"scope"`
	ExpiresAt *time.Time `json:"expires_at"`
}

// Key is an API key as the owner sees it. Secret is set only in the answer that created it.
type Key struct {
	ID         uuid.UUID  `json:"id"`
	Name       string     `json:"name"`
	Scope      string     `json:"scope"`
	Secret     string     `json:"key,omitempty"`
	Prefix     string     `json:"prefix"`
	CreatedAt  time.Time  `json:"created_at"`
	CreatedBy  *uuid.UUID `json:"created_by"` // the person or token on the owner's side; null: unknown
	ExpiresAt  *time.Time `json:"expires_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
	RevokedAt  *time.Time `json:"revoked_at"`
}

// KeyList is one page of keys. NextCursor is empty on the last.
type KeyList struct {
	Keys       []Key  `json:"keys"`
	NextCursor string `json:"next_cursor,omitempty"`
}

// Booking is a booking as the owner sees it.
type Booking struct {
	ID     uuid.UUID `json:"id"`
	Status string    `json:"status"`
	// Date is YYYY-MM-DD, StartTime and EndTime are HH:MM:SS. All are local times, as sent to the customer.
	Date      string    `json:"date"`
	StartTime string    `json:"start_time"`
	EndTime   string    `json:"end_time"`
	StartsAt  time.Time `json:"starts_at"` // start and end as instants
	EndsAt    time.Time `json:"ends_at"`
	// Timezone is the zone of the sale; if it is "", the current zone of the business applies.
	Timezone  string          `json:"timezone"`
	Services  []BookedService `json:"services"`
	StaffID   *uuid.UUID      `json:"staff_id"`
	StaffName *string         `json:"staff_name"`
	// ClassScheduleID is the session of a class booking, null for an appointment.
	ClassScheduleID *uuid.UUID      `json:"class_schedule_id"`
	PartySize       int             `json:"party_size"`
	Total           json.Number     `json:"total"`
	Currency        string          `json:"currency"`
	Source          string          `json:"source"`
	CustomerName    string          `json:"customer_name"`
	CustomerEmail   string          `json:"customer_email"`
	CustomerPhone   *string         `json:"customer_phone"`
	FormData        json.RawMessage `json:"form_data"`
	Locale          string          `json:"locale"` // the customer's language, one of the business's
	CreatedAt       time.Time       `json:"created_at"`
	UpdatedAt       time.Time       `json:"updated_at"`
	Sequence        int             `json:"sequence"` // sequence number of its newest event; 0 until its charge is open
	Payment         *Payment        `json:"payment"`  // null: no part of it is paid online

	// StaffRequested reports that the customer chose this member, instead of any free member.
	StaffRequested bool   `json:"staff_requested"`
	IsPackage      bool   `json:"is_package"`
	StaffingMode   string `json:"staffing_mode,omitempty"` // per_service, or omitted
	Withdrawn      bool   `json:"withdrawn"`               // the business withdrew its class session
	// Warnings are the rules for customers that the owner's booking
	// breaks. Only the response to the owner's request has them.
	Warnings []Warning `json:"warnings,omitempty"`
	// ManageURL is the customer's link; only in the response to the caller who booked
	ManageURL string `json:"manage_url,omitempty"`
	// CheckoutURL is the provider's payment page; only in the response to the booking page
	CheckoutURL string `json:"checkout_url,omitempty"`
}

// Warning is a rule for customers that a booking or reservation of the owner
// breaks. Code is the error code that a customer would get. Message is a sentence.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// CanFinish reports whether a booking on date can be completed or marked as a no-show on the date today: it can
// from the beginning of its own date (lifecycle.md §4). Both dates are in the zone in which the booking was sold.
func CanFinish(date, today timespan.Date) bool { return today >= date }

// CanReopen reports whether a completed or no-show booking on date can be reopened on the date today:
// it can until the end of the next day. Both dates are in the zone in which the booking was sold.
func CanReopen(date, today timespan.Date) bool { return today <= date+1 }

// BookedService is one service of a booking as it was sold.
type BookedService struct {
	ID              uuid.UUID   `json:"id"`
	Name            string      `json:"name"`
	VariantID       uuid.UUID   `json:"variant_id,omitzero"` // omitted, like variant_name, if no variant was booked
	VariantName     string      `json:"variant_name,omitempty"`
	DurationMinutes int         `json:"duration_minutes"`
	Price           json.Number `json:"price"`
	StaffID         *uuid.UUID  `json:"staff_id,omitempty"` // its member, in a package with staff per service
	// Quantity is the number of people, if the price is per person and
	// for more than one. Otherwise quantity and unit_price are omitted.
	Quantity  int         `json:"quantity,omitempty"`
	UnitPrice json.Number `json:"unit_price,omitempty"` // of one person, before the rules that depend on the party size
	// PriceChanges are the pricing rules that changed the price, in order; omitted if none did.
	PriceChanges []PriceChange `json:"price_changes,omitempty"`
	// PackageName is the name of the package in which it was sold; omitted for single services.
	PackageName string `json:"package_name,omitempty"`
}

// PerformedBy returns the start and end of the member's part of the booking. In a package with staff per service, the
// part is the member's services; otherwise it is the whole booking. It returns false if the member performs no part.
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

// PriceChange is a pricing rule that changed a price at the sale.
type PriceChange struct {
	Rule  string `json:"rule"` // the rule's key
	Kind  string `json:"kind"`
	Label string `json:"label" jsonschema:"what the customer reads, in the language of the booking"`
}

// BookingList is one page of bookings. NextCursor is empty on the last.
type BookingList struct {
	Bookings   []Booking `json:"bookings"`
	NextCursor string    `json:"next_cursor,omitempty"`
}

// AheadCount is the number of future bookings or tickets.
type AheadCount struct {
	Count int `json:"count"`
}

// Statuses of a booking (semantics.md §3).
const (
	StatusPending   = "pending"
	StatusConfirmed = "confirmed"
	StatusCompleted = "completed"
	StatusNoShow    = "no_show"
	StatusCancelled = "cancelled"
)

// Transitions that the owner can request; each is the last segment of its path.
const (
	MoveConfirm  = "confirm"
	MoveCancel   = "cancel"
	MoveComplete = "complete"
	MoveNoShow   = "no-show"
	MoveReopen   = "reopen" // reverts complete or no-show
)

// CheckedKey is an API key that is valid now.
type CheckedKey struct {
	BusinessID uuid.UUID `json:"business_id"`
	ID         uuid.UUID `json:"id"`
	Scope      string    `json:"scope"` // one of the Scope… values
}

// MaxOccupiedWindow is the longest window of one GET …/occupied request:
// the longest calendar window (62 days), with a margin on both sides.
const MaxOccupiedWindow = 80 * 24 * time.Hour
