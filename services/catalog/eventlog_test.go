package catalog

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/eventclient"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
)

func TestEventLogShowsBusinesses(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	client := peer.New("catalog", h.internal, telemetry.Discard(), peer.Timeout(testkit.MaxWait))
	t.Cleanup(client.Close)
	who := actor.Actor{Kind: actor.Owner, ID: uuid.New()}
	ctx := actor.With(t.Context(), who)
	manifest := []byte(harborYAML)
	var want []catalog.Business
	for range 2 {
		if _, err := h.owner.Publish(ctx, "harbor", manifest, catalog.MediaYAML, ""); err != nil {
			t.Fatal(err)
		}
		list, err := h.owner.List(t.Context(), nil, request.Page{})
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, list.Businesses...)
		h.clock.Advance(time.Minute)
	}
	if _, err := h.owner.Rollback(ctx, "harbor", 1, ""); err != nil {
		t.Fatal(err)
	}
	if err := h.owner.Delete(ctx, "harbor", derivedID("harbor")); err != nil {
		t.Fatal(err)
	}
	events := eventclient.New(client, catalogclient.Events)
	page, err := events.Events(t.Context(), "", 10, 0)
	if err != nil || len(page.Events) != 4 {
		t.Fatalf("%+v, %v", page, err)
	}
	types := []event.Type{event.BusinessPublished, event.BusinessPublished, event.BusinessPublished,
		event.BusinessRemoved}
	for i, e := range page.Events {
		var got catalog.Business
		if err := json.Unmarshal(e.Data, &got); err != nil {
			t.Fatal(err)
		}
		if e.Type != types[i] || e.Sequence != i+1 || e.Actor != who ||
			e.Subject != (event.Subject{Kind: event.Business, ID: e.BusinessID}) {
			t.Errorf("%+v", e)
		}
		if i < len(want) && cmp.Diff(want[i], got) != "" {
			t.Errorf("(-want +got):\n%s", cmp.Diff(want[i], got))
		}
		if got.ID != e.BusinessID || got.Slug != "harbor" || got.Version != min(3, int64(i+1)) ||
			got.Name != want[0].Name {
			t.Errorf("%+v", got)
		}
	}
	if list, err := events.List(t.Context(), page.Events[0].BusinessID, event.Filter{Type: event.BusinessRemoved},
		request.Page{}); err != nil || len(list.Events) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
}
