package store

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/eventlog"
)

// recordSQL records an event of a member in one business, or in each that they belong to. It keeps what they are there, and neither name nor address:
// who has left is forgotten with their account.
var recordSQL = `
WITH raised AS (
    UPDATE people SET sequence = sequence + 1 WHERE id = @person_id RETURNING id, sequence
), told AS (
    SELECT members.business_id, raised.id, raised.sequence, members.role, members.staff_id FROM raised JOIN members ON members.person_id = raised.id
    WHERE @business_id::uuid IS NULL OR members.business_id = @business_id
)
` + eventlog.Record(event.Member, "", "told", `jsonb_build_object('id', id, 'role', role, 'staff_id', staff_id)`)

// record records what was changed of a person, by who acts in ctx: in one business, or, where businessID is nil, in each that they belong to. It is part
// of the transaction of the change.
func record(ctx context.Context, tx pgx.Tx, what event.Type, personID, businessID uuid.UUID, now time.Time) error {
	_, err := tx.Exec(ctx, recordSQL, eventlog.Add(ctx, pgx.NamedArgs{
		"person_id": personID, "business_id": OrNull(businessID), "event_type": string(what),
	}, now))
	if err != nil {
		return fmt.Errorf("record %s: %w", what, err)
	}
	return nil
}

// as is a context in which a person acts: who comes in does so themselves.
func as(ctx context.Context, personID uuid.UUID) context.Context {
	return actor.With(ctx, actor.Actor{Kind: actor.Owner, ID: personID})
}
