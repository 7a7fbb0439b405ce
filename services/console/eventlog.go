package console

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/eventlog"
)

// member is what an event shows of a member of a team: what they were in the business afterwards, or, of who was removed, before.
type member struct {
	ID      uuid.UUID  `json:"id"`
	Role    string     `json:"role"`
	StaffID *uuid.UUID `json:"staff_id"`
}

// token is what an event shows of a token of the admin API.
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

// utc has the instants of a token as all are shown.
func (t token) utc() token {
	t.CreatedAt = t.CreatedAt.UTC()
	for _, at := range []*time.Time{t.ExpiresAt, t.RevokedAt} {
		if at != nil {
			*at = at.UTC()
		}
	}
	return t
}

// showEvents says how the subjects of console's events are shown.
func showEvents() map[event.SubjectKind]eventlog.Show {
	return map[event.SubjectKind]eventlog.Show{
		event.Member: eventlog.As(kept[member], func(m member) member { return m }),
		event.Token:  eventlog.As(kept[token], token.utc),
	}
}

// kept reads what events have kept.
func kept[T any](_ context.Context, texts []json.RawMessage) ([]T, error) {
	list := make([]T, len(texts))
	for i, text := range texts {
		if err := json.Unmarshal(text, &list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}
