// Package booking is what the booking service takes and tells others. It holds values and no client, so that pure packages
// may import it; the client is libs/peer/bookingclient.
package booking

import (
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/timespan"
)

// Resource is what a booking occupies: a staff member (Lane 0), or lane 1, 2, … of a service without staff, named by
// the service's id.
type Resource struct {
	ID   uuid.UUID `json:"id"`
	Lane int       `json:"lane,omitempty"`
}

// Occupied is the time that live bookings of one business take within a window, buffers included. On the wire it has one form, its
// bytes ([Occupied.AppendBinary]), which stand in base64 where it is part of a JSON document.
type Occupied struct {
	Busy []Busy
	// Seats are the seats taken in class sessions that start within the window, where they were asked for.
	Seats []SeatsTaken
}

// Busy is one resource's occupied time: [start, end) pairs in seconds since the epoch, flattened and sorted, whole
// even where they reach out of the window asked for.
type Busy struct {
	Resource
	// Class marks time that guests of class sessions hold together: it hinders appointments, but no class session.
	Class bool
	Edges []int64
}

// SeatsTaken is how many seats of one occurrence of a class session live bookings take.
type SeatsTaken struct {
	SessionID uuid.UUID
	StartsAt  int64 // seconds since the epoch
	Taken     int
}

// Add appends one span; spans of a resource are added in order of their start.
func (b *Busy) Add(s timespan.Span) { b.Edges = append(b.Edges, s.Start, s.End) }

// Spans returns the edges as spans.
func (b Busy) Spans() []timespan.Span {
	spans := make([]timespan.Span, 0, len(b.Edges)/2)
	for i := 0; i+1 < len(b.Edges); i += 2 {
		spans = append(spans, timespan.Span{Start: b.Edges[i], End: b.Edges[i+1]})
	}
	return spans
}

// Occurrence is a class session at one start.
type Occurrence struct {
	SessionID uuid.UUID
	StartsAt  int64 // seconds since the epoch
}

// SeatsByOccurrence returns how many seats are taken of each occurrence that has any.
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

// PublishedOffer is what catalog tells of an offer: no version before this one is offered any more.
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
	CreatedBy  *uuid.UUID `json:"created_by"` // the person or token of the owner's side; null: unknown
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
	ID        uuid.UUID       `json:"id"`
	Status    string          `json:"status"`
	Date      string          `json:"date"` // YYYY-MM-DD, start_time and end_time HH:MM:SS: business time, as told to the customer
	StartTime string          `json:"start_time"`
	EndTime   string          `json:"end_time"`
	StartsAt  time.Time       `json:"starts_at"` // the same start and end as instants
	EndsAt    time.Time       `json:"ends_at"`
	Timezone  string          `json:"timezone"` // in which it was sold; "": not known, and the business's of today
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
	Sequence        int             `json:"sequence"` // of its newest event; 0 until its charge is open
	Payment         *Payment        `json:"payment"`  // null: nothing of it is paid online

	// StaffRequested says that the customer asked for this member, not for anybody who is free.
	StaffRequested bool   `json:"staff_requested"`
	IsPackage      bool   `json:"is_package"`
	StaffingMode   string `json:"staffing_mode,omitempty"` // per_service, or left out
	Withdrawn      bool   `json:"withdrawn"`               // the business withdrew its class session
	// Warnings name the rules for customers that the owner's booking breaks; only in the answer to the owner's request.
	Warnings    []Warning `json:"warnings,omitempty"`
	ManageURL   string    `json:"manage_url,omitempty"`   // the customer's link; only in the answer to who booked
	CheckoutURL string    `json:"checkout_url,omitempty"` // the provider's page on which it is paid; only in the answer to the booking page
}

// Warning is a rule for customers that the owner's booking or reservation breaks: a code as of a refusal, and a sentence.
type Warning struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// CanFinish reports whether a booking of a date can be completed or marked as a no-show today: from the start of its day
// (lifecycle.md §4). Both dates are of the zone in which the booking was sold.
func CanFinish(date, today timespan.Date) bool { return today >= date }

// CanReopen reports whether a completed booking or a no-show of a date can be taken back today: until the end of the day
// after its day. Both dates are as of [CanFinish].
func CanReopen(date, today timespan.Date) bool { return today <= date+1 }

// BookedService is one service of a booking as it was sold.
type BookedService struct {
	ID              uuid.UUID   `json:"id"`
	Name            string      `json:"name"`
	VariantID       uuid.UUID   `json:"variant_id,omitzero"` // left out, as variant_name, for the service itself
	VariantName     string      `json:"variant_name,omitempty"`
	DurationMinutes int         `json:"duration_minutes"`
	Price           json.Number `json:"price"`
	StaffID         *uuid.UUID  `json:"staff_id,omitempty"` // who performs it in a package with staff per service
	// Quantity is how many people the price is of, where it is per person and there are several; left out, as unit_price, otherwise.
	Quantity  int         `json:"quantity,omitempty"`
	UnitPrice json.Number `json:"unit_price,omitempty"` // of one of them, before the rules that go by the size of the party
	// PriceChanges are the pricing rules that changed the price, in order; left out where none did.
	PriceChanges []PriceChange `json:"price_changes,omitempty"`
	// PackageName is the name of the package that it was sold in with the others; left out for single services.
	PackageName string `json:"package_name,omitempty"`
}

// PerformedBy returns when a member performs the booking, or the part of a package that is the member's; false where the member has no
// part.
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

// PriceChange is a pricing rule that changed a price when something was sold.
type PriceChange struct {
	Rule  string `json:"rule"` // its key
	Kind  string `json:"kind"`
	Label string `json:"label"` // what the customer reads, in the language of the booking
}

// BookingList is one page of bookings. NextCursor is empty on the last.
type BookingList struct {
	Bookings   []Booking `json:"bookings"`
	NextCursor string    `json:"next_cursor,omitempty"`
}

// AheadCount is how many bookings, or tickets, lie ahead.
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

// Moves that the owner can make; each is the last part of its path.
const (
	MoveConfirm  = "confirm"
	MoveCancel   = "cancel"
	MoveComplete = "complete"
	MoveNoShow   = "no-show"
	MoveReopen   = "reopen" // takes complete or no-show back
)

// CheckedKey is an API key that may be used now.
type CheckedKey struct {
	BusinessID uuid.UUID `json:"business_id"`
	ID         uuid.UUID `json:"id"`
	Scope      string    `json:"scope"` // one of the Scope… values
}

// MaxOccupiedWindow bounds what one GET …/occupied may ask for: the longest calendar window (62 days) and room on
// either side of it.
const MaxOccupiedWindow = 80 * 24 * time.Hour
