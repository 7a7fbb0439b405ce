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

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
)

// Record returns an INSERT that records an event of the type typ for each row of the argument
// rows. It must be used in a CTE of the statement that makes the change. All rows belong to the
// business in the parameter @business_id. The statement also needs the parameters of [Add].
//
// rows names a table or CTE with the subjects after the change. It has the columns business_id, id and sequence.
//
// data is an SQL expression for the data to store: the subject's row as jsonb. Readers convert
// it to the form of the admin API. If typ is "", the type is the parameter @event_type.
func Record(kind event.SubjectKind, typ event.Type, rows, data string) string {
	return record(kind, typ, rows, "("+data+") || @event_extra::jsonb", "uuid_v7()")
}

// RecordOne is [Record] for at most one row. [Add] generates
// the event's id, because the database generates ids slowly.
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
		// The time of the change is taken before the row is locked. If a change waited for
		// another change of the row, it must still not get an earlier time than that change.
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

// Add adds the parameters that a statement with [Record] needs: the time at, the actor of
// ctx, and the event's id for [RecordOne]. at is the time of the change by the service's
// clock. If ctx has no actor, the statement fails with [actor.ErrMissing] before it is sent.
func Add(ctx context.Context, args pgx.NamedArgs, at time.Time) pgx.NamedArgs {
	args["event_extra"], args["recorded_id"], args["event_at"], args["actor_id"] = "{}", uuid.Must(uuid.NewV7()), at,
		nil
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
