package deliver_test

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
)

// By the address a delivery is found when its customer is to be forgotten.
func TestDeliveriesKnowWhoseDataTheyHold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.endpoint("https://hooks.example")
	events := w.happened(uuid.New(), 1, 2, 3)
	events[0].Data, events[1].Data = json.RawMessage(`{"customer_email": "Ada@Example.com"}`),
		json.RawMessage(`{"customer_email": null}`)
	w.take(events)
	rows, _ := w.pool.Query(t.Context(),
		`SELECT coalesce(customer_email, 'null') FROM webhook_deliveries ORDER BY sequence`)
	known, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(known) != 3 || known[0] != "ada@example.com" || known[1] != "null" || known[2] != "null" {
		t.Errorf("known are %q, %v", known, err)
	}
	erased, err := w.records.EraseCustomer(testkit.AsSystem(t),
		store.Erase{BusinessID: w.business, Email: "ADA@example.com"}, start, w.wake)
	if err != nil || erased.Deliveries != 1 {
		t.Errorf("erased %+v, %v", erased, err)
	}
	if due, there := w.due(); !there || due.After(start) {
		t.Errorf("the lane is looked after at %v, %t", due, there)
	}
}
