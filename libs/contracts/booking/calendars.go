package booking

import (
	"time"

	"github.com/google/uuid"
)

// The contents of the bookings in a calendar feed (lifecycle.md §2).
const (
	ShowsTimes = "times" // times only
	ShowsNames = "names" // times, services and names
)

// NewCalendar asks for a calendar feed.
type NewCalendar struct {
	Slug    string     `json:"slug"` // of the business; its offer defines the members
	StaffID *uuid.UUID `json:"staff_id"`
	Shows   string     `json:"shows"` // one of the Shows… values
}

// Calendar is a calendar feed as the owner sees it. Token and URL are set only in the response that created it.
type Calendar struct {
	ID         uuid.UUID  `json:"id"`
	StaffID    *uuid.UUID `json:"staff_id"` // null: bookings of all members
	Shows      string     `json:"shows"`
	Token      string     `json:"token,omitempty"`
	URL        string     `json:"url,omitempty"` // omitted if no pages are deployed
	CreatedAt  time.Time  `json:"created_at"`
	CreatedBy  *uuid.UUID `json:"created_by"` // the person or token on the owner's side; null: unknown
	LastUsedAt *time.Time `json:"last_used_at"`
	RevokedAt  *time.Time `json:"revoked_at"`
}

// CalendarList is one page of feeds. NextCursor is empty on the last.
type CalendarList struct {
	Calendars  []Calendar `json:"calendars"`
	NextCursor string     `json:"next_cursor,omitempty"`
}
