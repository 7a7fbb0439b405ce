package command_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

const workshop = `
staff: [{key: anna, name: Anna Berg}, {key: ben, name: Ben}, {key: other-ben, name: Ben}]
events:
  - key: workshop
    name: Clay Workshop
    date: 2099-05-01
    start_time: "10:00"
    end_time: "12:00"
    total_capacity: 20
    tiers: [{key: front, name: Front row, price: 30, capacity: 5}, {key: back, name: Back = cheap, price: 10, capacity: 5}]
rentals: [{key: kayak, name: Kayak, price: 5, price_type: daily, quantity: 3, units_count: 3}]
`

// publishWorkshop publishes a business with a workshop and returns a shell, the console and the id of the business.
func publishWorkshop(t *testing.T) (shell, *consoletest.Fixture, uuid.UUID) {
	t.Helper()
	w := consoletest.Start(t)
	s := newShell(t, w)
	s.in = consoletest.BuildManifest("harbor", "Harbor") + workshop
	return s, w, uuid.MustParse(decode(t, s.mustRun("apply", "-f", "-", "-o", "json"))["id"].(string))
}

func TestCommandsAcceptKeysAndNames(t *testing.T) {
	t.Parallel()
	s, w, id := publishWorkshop(t)
	of := func(path string) string { return uuid.NewSHA1(id, []byte(path)).String() }
	for _, called := range [][2]string{{"workshop", "front"}, {"clay workshop", "Front Row"},
		{of("event/workshop"), of("event/workshop/tier/front")}} {
		sale := decode(t, s.mustRun("tickets", "sell", "harbor", "--event", called[0], "--tier", called[1],
			"--customer",
			"Zoë", "-o", "json"))
		if sale["event_id"] != of("event/workshop") || sale["tier_id"] != of("event/workshop/tier/front") {
			t.Errorf("%v: %v", called, sale)
		}
	}
	several := decode(t, s.mustRun("tickets", "sell", "harbor", "--event", "workshop", "--tier", "front=2", "--tier",
		"Back = cheap", "--customer", "Zoë", "-o", "json"))
	want := []any{
		map[string]any{"tier_id": of("event/workshop/tier/front"), "tier_name": "VIP", "quantity": 2.0, "price": nil},
		map[string]any{"tier_id": of("event/workshop/tier/back"), "tier_name": "VIP", "quantity": 1.0, "price": nil},
	}
	if diff := cmp.Diff(want, several["tiers"]); diff != "" || several["quantity"] != 3.0 {
		t.Errorf("%v of several tiers:\n%s", several["quantity"], diff)
	}
	s.mustRun("explain", "harbor", "--service", "cut, Haircut", "--staff", "anna", "--date", "2027-03-02", "--time",
		"10:15")
	explainRequests := w.Availability.ListRequests()
	if q := explainRequests[len(explainRequests)-1].Question; len(q.ServiceIDs) != 2 ||
		q.ServiceIDs[1].String() != of("service/cut") ||
		q.StaffID.String() != of("staff/anna") {
		t.Errorf("the question is about %+v", q)
	}
	created := decode(t, s.mustRun("reservations", "create", "harbor", "--rental", "Kayak", "--start", "2099-06-01",
		"--end",
		"2099-06-02", "--customer", "Zoë", "-o", "json"))
	if created["rental_id"] != of("rental/kayak") {
		t.Errorf("reserved %v", created)
	}
	if got := s.mustRun("tickets", "list", "harbor", "--event", "workshop"); strings.Count(got, "\n") != 5 {
		t.Errorf("listed %s", got)
	}
	s.expectFailure(1, `did you mean workshop?`, "tickets", "sell", "harbor", "--event", "workshp", "--tier", "front",
		"--customer", "Zoë")
	s.expectFailure(1, "quantity", "tickets", "sell", "harbor", "--event", "workshop", "--tier", "front=0",
		"--customer", "Zoë")
	s.expectFailure(1, `there is front, back`, "tickets", "sell", "harbor", "--event", "workshop", "--tier", "balcony",
		"--customer", "Zoë")
	s.expectFailure(1, `2 are called "Ben"; name the member of the staff by its key, such as ben`, "calendars",
		"create",
		"harbor", "--staff", "Ben")
	s.expectFailure(1, "did you mean harbor?", "history", "habor")
	s.expectFailure(2, "did you mean history?", "histroy", "harbor")
	s.expectFailure(2, "did you mean sell?", "tickets", "sel")
}

// TestBookAcceptsEachKindOfName books with the key, the name and the id of each kind of object that `bookings
// book --help` names.
func TestBookAcceptsEachKindOfName(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	s := newShell(t, w)
	s.in = consoletest.BuildManifest("harbor", "Harbor") + `  - key: colour
    name: Hair colour
    duration_minutes: 60
    variants: [{key: long, name: Long hair, duration_minutes: 90, price: 90}]
  - key: yoga
    name: Yoga class
    duration_minutes: 60
    classes: [{key: mon-evening, weekday: mon, time: "18:30", capacity: 12, staff: anna}]
staff: [{key: anna, name: Anna Berg}]
`
	business := uuid.MustParse(decode(t, s.mustRun("apply", "-f", "-", "-o", "json"))["id"].(string))
	of := func(path string) string { return uuid.NewSHA1(business, []byte(path)).String() }
	names := map[string][]string{ // flag -> all names of one object; the last is its id
		"--service": {"colour", "Hair colour", of("service/colour")},
		"--staff":   {"anna", "Anna Berg", of("staff/anna")},
		"--session": {"mon-evening", of("service/yoga/class/mon-evening")},
		"--variant": {"colour:long", "Hair colour:Long hair",
			of("service/colour") + ":" + of("service/colour/variant/long")},
	}
	for flag, ways := range names {
		for _, name := range ways {
			args := []string{"bookings", "book", "harbor", flag, name, "--date", "2026-12-07", "--time", "18:30",
				"--customer", "Ada", "-o", "json"}
			if flag != "--service" {
				args = append(args, "--service", "colour")
			}
			booked := decode(t, s.mustRun(args...))
			got := map[string]any{
				"--service": booked["services"].([]any)[0].(map[string]any)["id"], "--staff": booked["staff_id"],
				"--session": booked["class_schedule_id"], "--variant": ways[len(ways)-1],
			}[flag]
			if got != ways[len(ways)-1] {
				t.Errorf("%s %q booked %v, want %s", flag, name, got, ways[len(ways)-1])
			}
		}
	}
}

func TestContentsAreListedByKey(t *testing.T) {
	t.Parallel()
	s, _, id := publishWorkshop(t)
	for label, want := range map[string]string{
		"services": "cut Haircut 45 40 EUR", "staff": "anna Anna Berg yes",
		"events": "workshop Clay Workshop 2099-05-01 10:00 front", "rentals": "kayak Kayak 5 EUR",
	} {
		if got := strings.Join(strings.Fields(s.mustRun(label, "list", "harbor")), " "); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", label, got, want)
		}
	}
	if got := s.mustRun("version"); !strings.HasPrefix(got, "slotmesh ") {
		t.Errorf("version: %s", got)
	}
	if got := s.mustRun("staff", "list", "harbor", "-o", "json"); !strings.Contains(got,
		uuid.NewSHA1(id, []byte("staff/anna")).String()) {
		t.Errorf("as JSON: %s", got)
	}
}

func TestPauseChangesOneLineAndEnds(t *testing.T) {
	t.Parallel()
	s, _, _ := publishWorkshop(t)
	before := s.mustRun("get", "harbor")
	if got := s.mustRun("pause", "harbor", "--until",
		"2099-03-01"); got != "harbor: online bookings are paused until 2099-03-01 (version 2)\n" {
		t.Error(got)
	}
	paused := s.mustRun("get", "harbor")
	if !strings.Contains(paused, "paused_until: ") || !strings.HasPrefix(paused, before[:40]) {
		t.Errorf("paused:\n%s", paused)
	}
	if got := s.mustRun("pause", "harbor", "--until", "2099-03-01"); !strings.Contains(got, "(version 2)") {
		t.Errorf("paused again: %s", got)
	}
	if got := s.mustRun("resume", "harbor"); !strings.Contains(got, "(version 3)") ||
		strings.Contains(s.mustRun("get", "harbor"), "paused_until") {
		t.Errorf("resumed: %s\n%s", got, s.mustRun("get", "harbor"))
	}
	s.expectFailure(2, "is no date", "pause", "harbor", "--until", "monday")
	s.expectFailure(2, "2020-03-01 is not ahead; write the first day that can be booked on again", "pause", "harbor",
		"--until",
		"2020-03-01")
	if got := s.mustRun("get", "harbor"); strings.Contains(got, "paused_until") {
		t.Errorf("a refused pause is written:\n%s", got)
	}
}

func TestApplySkipsUnchangedFileAndHistoryListsChanges(t *testing.T) {
	t.Parallel()
	s, w, id := publishWorkshop(t)
	if got := s.mustRun("apply", "-f", "-"); got != "harbor: version 1 says this already; nothing is published\n" {
		t.Error(got)
	}
	s.in = strings.Replace(s.in, "price: 40.00", "price: 45.00", 1)
	s.mustRun("apply", "-f", "-")
	ana := actor.Actor{Kind: actor.Owner, ID: uuid.New()}
	w.Catalog.Record(event.Event{ID: uuid.New(), Type: event.BusinessPublished, BusinessID: id,
		Subject: event.Subject{Kind: event.Business, ID: id}, At: time.Now(), Actor: ana,
		Data: []byte(`{"version": 2}`)})
	got := s.mustRun("history", "harbor", "--what")
	if strings.Count(got, "\n") != 3 || !strings.Contains(got, ana.String()) || !strings.Contains(got,
		"services[cut].price: 40 becomes 45") {
		t.Errorf("history:\n%s", got)
	}
}
