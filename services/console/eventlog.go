package console

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
)

// member is the data of a team member in an event: their role after the event or, if they were removed, before it.
type member struct {
	ID      uuid.UUID  `json:"id"`
	Role    string     `json:"role"`
	StaffID *uuid.UUID `json:"staff_id"`
}

// token is the data of a token of the admin API in an event.
type token struct {
	ID         uuid.UUID  `json:"id"`
	Name       string     `json:"name"`
	BusinessID uuid.UUID  `json:"business_id"`
	Role       string     `json:"role"`
	StaffID    *uuid.UUID `json:"staff_id"`
	Prefix     string     `json:"prefix"`
	CreatedAt  time.Time  `json:"created_at"`
	ExpiresAt  *time.Time `json:"expires_at"`
	RevokedAt  *time.Time `json:"revoked_at"`
}

// utc returns the token with its instants in UTC, as all answers have them.
func (t token) utc() token {
	t.CreatedAt = t.CreatedAt.UTC()
	for _, at := range []*time.Time{t.ExpiresAt, t.RevokedAt} {
		if at != nil {
			*at = at.UTC()
		}
	}
	return t
}

// showEvents returns how the subjects of console's events are shown.
func showEvents() map[event.SubjectKind]eventlog.Show {
	return map[event.SubjectKind]eventlog.Show{
		event.Member: eventlog.As(kept[member], func(m member) member { return m }),
		event.Token:  eventlog.As(kept[token], token.utc),
	}
}

// kept decodes the stored data of events.
func kept[T any](_ context.Context, texts []json.RawMessage) ([]T, error) {
	list := make([]T, len(texts))
	for i, text := range texts {
		if err := json.Unmarshal(text, &list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}
