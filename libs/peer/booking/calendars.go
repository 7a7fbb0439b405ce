package booking

import (
	"time"

	"github.com/google/uuid"
)

// What a calendar feed shows of bookings (lifecycle.md §2).
const (
	ShowsTimes = "times" // when, and nothing else
	ShowsNames = "names" // what and who, too
)

// NewCalendar asks for a calendar feed.
type NewCalendar struct {
	Slug    string     `json:"slug"` // of the business, whose offer says who its members are
	StaffID *uuid.UUID `json:"staff_id"`
	Shows   string     `json:"shows"` // one of the Shows… values
}

// Calendar is a calendar feed as the owner sees it. Token and URL are set only in the answer that created it.
type Calendar struct {
	ID         uuid.UUID  `json:"id"`
	StaffID    *uuid.UUID `json:"staff_id"` // null: the bookings of all
	Shows      string     `json:"shows"`
	Token      string     `json:"token,omitempty"`
	URL        string     `json:"url,omitempty"` // left out where there are no pages
	CreatedAt  time.Time  `json:"created_at"`
	CreatedBy  *uuid.UUID `json:"created_by"` // the person or token of the owner's side; null: unknown
	LastUsedAt *time.Time `json:"last_used_at"`
	RevokedAt  *time.Time `json:"revoked_at"`
}

// CalendarList is one page of feeds. NextCursor is empty on the last.
type CalendarList struct {
	Calendars  []Calendar `json:"calendars"`
	NextCursor string     `json:"next_cursor,omitempty"`
}
