// Package eventlog records changes of a service's subjects, one event per change (lifecycle.md §1). The statement
// that makes the change also writes the event, so that neither exists without the other, even after a crash.
//
// The service's migrations create the table events, and a column sequence
// in each table of subjects, which every recorded change increments.
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

// Record returns an INSERT that records an event of this type for each row of rows. rows is a table or CTE
// with the subjects after the change and the columns business_id, id and sequence. The INSERT belongs into
// a CTE of the statement that makes the change; its parameter @business_id is the business of all rows.
//
// data is an SQL expression for the stored data: the subject's row as jsonb, from which readers get the form
// of the admin API. A typ of "" uses the parameter @event_type. The statement needs the parameters of [Add].
func Record(kind event.SubjectKind, typ event.Type, rows, data string) string {
	return record(kind, typ, rows, "("+data+") || @event_extra::jsonb", "uuid_v7()")
}

// RecordOne is [Record] for at most one row. [Add] generates the event's
// id: generating it in the database took a quarter of the cost of an event.
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
		// The time is taken before the row is locked. A change that waited
		// for another one must not get an earlier time than that one.
		table, _, _ := strings.Cut(rows, " ")
		at = `greatest(` + at + `, (SELECT before.at FROM events AS before WHERE before.business_id = @business_id
               AND before.subject_id = ` + table + `.id AND before.sequence = ` + table + `.sequence - 1))`
	}
	return `INSERT INTO events (business_id, subject_id, sequence, subject_kind, id, type, at, actor_kind, actor_id, data)
    SELECT business_id, id, sequence, '` + string(kind) + `', ` + id + `, ` + sqlType + `,
           ` + at + `, @actor_kind::text, @actor_id::uuid, ` + data + `
    FROM ` + rows
}

// Silent reports whether an event's stored data states that the customer is not notified of the change.
func Silent(kept json.RawMessage) bool {
	var event struct {
		Notify *bool `json:"notify"`
	}
	return json.Unmarshal(kept, &event) == nil && event.Notify != nil && !*event.Notify
}

// Add adds the parameters that a statement with [Record] needs: the time of the change
// by the service's clock, the actor of ctx, and the id for [RecordOne]. Without an
// actor in ctx the statement fails with [actor.ErrMissing] before it is sent.
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

// failingParameter is a parameter that makes its statement fail: pgx encodes it before it sends anything.
type failingParameter struct{ err error }

// Value returns the error.
func (p failingParameter) Value() (driver.Value, error) { return nil, p.err }
