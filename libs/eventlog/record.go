// Package eventlog records what happens to what a service owns, one event for each change (lifecycle.md §1). The event is
// written by the statement that makes the change: there is none without the other, whatever dies.
//
// A service that records brings the table events by its migration, and a column sequence on each table of subjects, which
// every recorded change raises by one.
package eventlog

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/event"
)

// Record returns an INSERT that records an event of this type for each row of rows, a table or CTE of subjects as they are after
// the change, with the columns business_id, id and sequence. It is for a CTE of the statement that makes the change; its parameter
// @business_id is the business of all the rows. data is an
// SQL expression for what is kept of the subject: its row as jsonb, from which readers are shown what the admin API shows. A type
// of "" is the parameter @event_type. The statement needs the values of [Add].
func Record(kind event.SubjectKind, typ event.Type, rows, data string) string {
	return record(kind, typ, rows, "("+data+") || @event_extra::jsonb", "uuid_v7()")
}

// RecordOne is [Record] of rows that are one at most. The event's id is made by [Add]: made in the database, it was a quarter of what an event
// costs there.
func RecordOne(kind event.SubjectKind, typ event.Type, rows, data string) string {
	return record(kind, typ, rows, data, "@recorded_id::uuid")
}

func record(kind event.SubjectKind, typ event.Type, rows, data, id string) string {
	sqlType := "@event_type::text"
	if typ != "" {
		sqlType = "'" + string(typ) + "'"
	}
	at := "@event_at::timestamptz"
	if id == "uuid_v7()" {
		// The time is taken before the lock of the row. A change that waited for another one is not told as the earlier one.
		table, _, _ := strings.Cut(rows, " ")
		at = `greatest(` + at + `, (SELECT before.at FROM events AS before WHERE before.business_id = @business_id
               AND before.subject_id = ` + table + `.id AND before.sequence = ` + table + `.sequence - 1))`
	}
	return `INSERT INTO events (business_id, subject_id, sequence, subject_kind, id, type, at, actor_kind, actor_id, data)
    SELECT business_id, id, sequence, '` + string(kind) + `', ` + id + `, ` + sqlType + `,
           ` + at + `, @actor_kind::text, @actor_id::uuid, ` + data + `
    FROM ` + rows
}

// Silent reports whether the customer is not notified of the change of which an event keeps this.
func Silent(kept json.RawMessage) bool {
	var event struct {
		Notify *bool `json:"notify"`
	}
	return json.Unmarshal(kept, &event) == nil && event.Notify != nil && !*event.Notify
}

// Add gives a statement with [Record] its values: when the change is made, by the service's clock, who acts in ctx, and the id of an event
// that is one. Without an actor in ctx the statement fails with [actor.ErrMissing] before it is sent.
func Add(ctx context.Context, args pgx.NamedArgs, at time.Time) pgx.NamedArgs {
	args["event_extra"], args["recorded_id"], args["event_at"], args["actor_id"] = "{}", uuid.Must(uuid.NewV7()), at, nil
	by, err := actor.Require(ctx)
	if err != nil {
		args["actor_kind"] = failingParameter{err}
		return args
	}
	args["actor_kind"] = string(by.Kind)
	if by.Kind == actor.Owner && actor.IsSilent(ctx) {
		args["event_extra"] = `{"notify": false}`
	}
	if by.ID != [16]byte{} {
		args["actor_id"] = by.ID
	}
	return args
}

// failingParameter is a parameter that fails its statement: pgx asks for its value before it sends anything.
type failingParameter struct{ err error }

// Value returns the error.
func (p failingParameter) Value() (driver.Value, error) { return nil, p.err }
