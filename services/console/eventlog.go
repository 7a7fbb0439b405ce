package console

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
)

// member is the data of an event about a team member. The role in this data is the member's role after the event. If
// the event is the removal of the member, the role is the member's role before the event.
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

// toUTC returns the token with all instants in UTC, because the admin API returns all instants in UTC.
func (t token) toUTC() token {
	t.CreatedAt = t.CreatedAt.UTC()
	for _, at := range []*time.Time{t.ExpiresAt, t.RevokedAt} {
		if at != nil {
			*at = at.UTC()
		}
	}
	return t
}

// showEvents returns the functions that convert the stored data of events to the data that the admin API returns. The
// key of the map is the kind of the event's subject, such as a member or a token.
func showEvents() map[event.SubjectKind]eventlog.Show {
	return map[event.SubjectKind]eventlog.Show{
		event.Member: eventlog.NewShow(decodeEvents[member], func(m member) member { return m }),
		event.Token:  eventlog.NewShow(decodeEvents[token], token.toUTC),
	}
}

// decodeEvents decodes the stored data of events. The audit log shows these data as they were at the time of the event.
func decodeEvents[T any](_ context.Context, texts []json.RawMessage) ([]T, error) {
	list := make([]T, len(texts))
	for i, text := range texts {
		if err := json.Unmarshal(text, &list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}
