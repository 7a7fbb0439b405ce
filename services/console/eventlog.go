package console

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
)

// member is the data of an event about a team member. It has the role after the event. If the member was removed, it
// has the role before the event.
type member struct {
	ID      uuid.UUID  `json:"id"`
	Role    string     `json:"role"`
	StaffID *uuid.UUID `json:"staff_id"`
}

// token is the data of an event about a token of the admin API.
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

// utc returns the token with all instants in UTC, because all answers of the API have instants in UTC.
func (t token) utc() token {
	t.CreatedAt = t.CreatedAt.UTC()
	for _, at := range []*time.Time{t.ExpiresAt, t.RevokedAt} {
		if at != nil {
			*at = at.UTC()
		}
	}
	return t
}

// showEvents returns the conversions of stored event data to the form of the admin API, by kind of subject.
func showEvents() map[event.SubjectKind]eventlog.Show {
	return map[event.SubjectKind]eventlog.Show{
		event.Member: eventlog.As(kept[member], func(m member) member { return m }),
		event.Token:  eventlog.As(kept[token], token.utc),
	}
}

// kept decodes the stored data of events. For these events, the audit log shows this data as it was at the event.
func kept[T any](_ context.Context, texts []json.RawMessage) ([]T, error) {
	list := make([]T, len(texts))
	for i, text := range texts {
		if err := json.Unmarshal(text, &list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}
