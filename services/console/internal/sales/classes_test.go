package sales

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

func TestNewSessionReadsOffer(t *testing.T) {
	t.Parallel()
	o := newClub(t)
	date := timespan.NewDate(2027, 3, 1)
	o.Services = []catalog.Service{{ID: uuid.New(), Active: true,
		Classes: []catalog.ClassSession{{ID: uuid.New(), Capacity: 5, StaffID: &o.Staff[0].ID}}}}
	if err := o.Prepare(); err != nil {
		t.Fatal(err)
	}
	found := availability.ClassSession{
		ID: o.Services[0].Classes[0].ID, ServiceID: o.Services[0].ID, Date: date,
		During: timespan.Span{Start: 1_803_924_000}, Off: true, Taken: 7,
	}
	got := newSession(o, found)
	if got == nil || got.Service != &o.Services[0] || got.Member != &o.Staff[0] || !got.IsOff || got.FreeSeats() != 0 ||
		!got.StartsAt.Equal(time.Unix(found.During.Start, 0)) {
		t.Errorf("got %+v", got)
	}
	found.ID = uuid.New()
	if got := newSession(o, found); got != nil {
		t.Errorf("newSession of a removed session: %+v", got)
	}
}
