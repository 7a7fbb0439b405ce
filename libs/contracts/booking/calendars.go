package booking

import (
	"time"

	"github.com/google/uuid"
)

// The details of bookings that a calendar feed can show (lifecycle.md §2).
const (
	ShowsTimes = "times" // times only
	ShowsNames = "names" // times, services and names of customers
)

// NewCalendar requests a new calendar feed.
type NewCalendar struct {
	Slug    string     `json:"slug"` // slug of the business whose offer lists the staff members
	StaffID *uuid.UUID `json:"staff_id"`
	Shows   string     `json:"shows"` // one of the Shows… values
}

// Calendar is a calendar feed as the owner sees it. Token and URL
// are set only in the response to the request that created the feed.
type Calendar struct {
	ID         uuid.UUID  `json:"id"`
	StaffID    *uuid.UUID `json:"staff_id"` // null: bookings of all staff members
	Shows      string     `json:"shows"`
	Token      string     `json:"token,omitempty"`
	URL        string     `json:"url,omitempty"` // omitted if the booking service has no PAGES_URL
	CreatedAt  time.Time  `json:"created_at"`
	CreatedBy  *uuid.UUID `json:"created_by"` // id of the person or token that created the feed; null: unknown
	LastUsedAt *time.Time `json:"last_used_at"`
	RevokedAt  *time.Time `json:"revoked_at"`
}

// CalendarList is one page of calendar feeds. NextCursor is empty on the last page.
type CalendarList struct {
	Calendars  []Calendar `json:"calendars"`
	NextCursor string     `json:"next_cursor,omitempty"`
}
