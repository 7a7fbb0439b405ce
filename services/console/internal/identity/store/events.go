package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
)

// recordSQL records an event about a member in one business, or in each business of the person. The event has the
// member's role, but no name or address. So events contain no personal data after the person is deleted.
var recordSQL = `
WITH raised AS (
    UPDATE people SET sequence = sequence + 1 WHERE id = @person_id RETURNING id, sequence
), told AS (
    SELECT members.business_id, raised.id, raised.sequence, members.role, members.staff_id FROM raised JOIN members ON members.person_id = raised.id
    WHERE @business_id::uuid IS NULL OR members.business_id = @business_id
)
` + eventlog.Record(event.Member, "", "told", `jsonb_build_object('id', id, 'role', role, 'staff_id', staff_id)`)

// recordEvent records an event about a change of a person, in the transaction of the change. The context ctx names the
// actor of the event. If businessID is the nil UUID, recordEvent adds the event in each business of the person.
func recordEvent(ctx context.Context, tx pgx.Tx, eventType event.Type, personID, businessID uuid.UUID,
	now time.Time) error {
	_, err := tx.Exec(ctx, recordSQL, eventlog.Add(ctx, pgx.NamedArgs{
		"person_id": personID, "business_id": OrNull(businessID), "event_type": string(eventType),
	}, now))
	if err != nil {
		return fmt.Errorf("record %s: %w", eventType, err)
	}
	return nil
}

// withPersonActor returns a context with a person as the actor of events. A sign-in uses this context, because the
// request of a sign-in has no principal.
func withPersonActor(ctx context.Context, personID uuid.UUID) context.Context {
	return actor.With(ctx, actor.Actor{Kind: actor.Owner, ID: personID})
}
