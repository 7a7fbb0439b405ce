// Package booking is the peer side of the booking service: its internal API's types and client.
package booking

import (
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

// Occupied is the time that live bookings of one business take within a window, buffers included.
type Occupied struct {
	Busy []Busy `json:"busy"`
}

// Busy is one resource's occupied time: [start, end) pairs in seconds since the epoch, flattened and sorted, whole
// even where they reach out of the window asked for.
type Busy struct {
	Resource
	Edges []int64 `json:"edges"`
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

// Scopes of an API key (interface.md §5).
const (
	ScopeRead  = "read"
	ScopeWrite = "write"
	ScopeAll   = "all"
)

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
	ExpiresAt  *time.Time `json:"expires_at"`
	LastUsedAt *time.Time `json:"last_used_at"`
	RevokedAt  *time.Time `json:"revoked_at"`
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
)
