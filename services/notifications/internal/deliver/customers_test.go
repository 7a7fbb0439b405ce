package deliver_test

import (
	"encoding/json"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
)

// Erasing a customer finds the deliveries by the stored e-mail address.
func TestDeliveriesStoreCustomerEmail(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.addEndpoint("https://hooks.example")
	events := w.newEvents(uuid.New(), 1, 2, 3)
	events[0].Data, events[1].Data = json.RawMessage(`{"customer_email": "Ada@Example.com"}`),
		json.RawMessage(`{"customer_email": null}`)
	w.take(events)
	rows, _ := w.pool.Query(t.Context(),
		`SELECT coalesce(customer_email, 'null') FROM webhook_deliveries ORDER BY sequence`)
	emails, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(emails) != 3 || emails[0] != "ada@example.com" || emails[1] != "null" || emails[2] != "null" {
		t.Errorf("the stored addresses are %q, %v", emails, err)
	}
	erased, err := w.records.EraseCustomer(testkit.AsSystem(t),
		store.Erasure{BusinessID: w.business, Email: "ADA@example.com"}, start, w.wake)
	if err != nil || erased.Deliveries != 1 {
		t.Errorf("erased %+v, %v", erased, err)
	}
	if due, exists := w.nextJobTime(); !exists || due.After(start) {
		t.Errorf("the next job runs at %v, %t", due, exists)
	}
}
