package catalog

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

// large returns a snapshot with n staff members, services, events and rentals. They are not sorted by id.
func large(n int) *Snapshot {
	o := &Snapshot{Timezone: "Europe/Lisbon", Currency: "EUR"}
	id := func(kind string, i int) uuid.UUID { return uuid.NewSHA1(uuid.Nil, fmt.Appendf(nil, "%s %d", kind, i)) }
	for i := range n {
		o.Staff = append(o.Staff, Staff{ID: id("staff", i)})
		o.Services = append(o.Services, Service{ID: id("service", i)})
		o.Events = append(o.Events, Event{ID: id("event", i)})
		o.Rentals = append(o.Rentals, Rental{ID: id("rental", i)})
	}
	return o
}

func TestLookupsFindByID(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 100} {
		o := large(n)
		if err := o.Prepare(); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if o.StaffMember(o.Staff[i].ID) != &o.Staff[i] || o.Service(o.Services[i].ID) != &o.Services[i] ||
				o.Event(o.Events[i].ID) != &o.Events[i] || o.Rental(o.Rentals[i].ID) != &o.Rentals[i] {
				t.Errorf("with %d objects, the object %d is not found", n, i)
			}
			if o.Service(o.Staff[i].ID) != nil || o.StaffMember(o.Services[i].ID) != nil ||
				o.Event(o.Rentals[i].ID) != nil || o.Rental(o.Events[i].ID) != nil {
				t.Errorf("with %d objects, the id of an object of another kind is found", n)
			}
		}
		if o.Service(uuid.Nil) != nil || o.Service(uuid.Max) != nil {
			t.Errorf("with %d objects, an unknown id is found", n)
		}
	}
}

func TestCompactKeepsContent(t *testing.T) {
	t.Parallel()
	o := large(5)
	all := []uuid.UUID{o.Staff[0].ID, o.Staff[1].ID, o.Staff[2].ID}
	some := []uuid.UUID{o.Staff[0].ID, o.Staff[3].ID, o.Staff[2].ID} // first and last id are those of `all`
	for i, ids := range [][]uuid.UUID{all, some, all, nil, {}} {
		o.Services[i].StaffIDs = append(ids[:0:0], ids...)
	}
	before, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	got := new(Snapshot)
	if err := json.Unmarshal(before, got); err != nil {
		t.Fatal(err)
	}
	if err := got.Prepare(); err != nil {
		t.Fatal(err)
	}
	after, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(before), string(after)); diff != "" {
		t.Error(diff)
	}
	if cap(got.Services) != 5 || cap(got.Staff) != 5 || cap(got.Services[1].StaffIDs) != 3 {
		t.Errorf("the capacities are %d services, %d members and %d members of a service", cap(got.Services),
			cap(got.Staff), cap(got.Services[1].StaffIDs))
	}
	if &got.Services[0].StaffIDs[0] != &got.Services[2].StaffIDs[0] {
		t.Error("two services with the same members do not share the list")
	}
	other := large(1)
	if err := other.Prepare(); err != nil || other.Location() != got.Location() {
		t.Error("two snapshots do not share the time zone", err)
	}
}

// BenchmarkService finds one service among as many as a salon has.
func BenchmarkService(b *testing.B) {
	o := large(20)
	if err := o.Prepare(); err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		if o.Service(o.Services[i%20].ID) == nil {
			b.Fatal("not found")
		}
	}
}
