package api_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

func TestCeilingIsMinimumOfQuantityAndService(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.reserve(t, bike, 10, "2027-06-10", "2027-06-20") // the result is an upper bound: reservations do not count
	// Maintenance of a tent on this date does not count either.
	s.clock.Set(time.Date(2027, time.June, 12, 11, 0, 0, 0, time.UTC))
	got, err := s.client.Ceilings(t.Context(), "harbor", 3)
	if err != nil {
		t.Fatal(err)
	}
	want := map[uuid.UUID]int{}
	for id, n := range map[string]int{bike: 10, kayak: 3, tent: 3, unicorn: 0, retired: 5, single: 1} {
		want[uuid.MustParse(id)] = n
	}
	if diff := cmp.Diff(want, got.Ceilings); diff != "" {
		t.Errorf("ceilings (-want +got):\n%s", diff)
	}
	if _, err := s.client.Ceilings(t.Context(), "elsewhere", 1); !fault.Is(err, fault.BusinessNotFound) {
		t.Errorf("an unknown business: %v", err)
	}
}

func TestReservationKeepsAgreedData(t *testing.T) {
	t.Parallel()
	s := start(t)
	got := s.reserve(t, kayak, 2, "2027-06-11", "2027-06-12", "22:00", "02:00")
	day := timespan.NewDate(2027, time.June, 11)
	from, to := timespan.TimeOfDay(22*60), timespan.TimeOfDay(2*60)
	want := &rental.Reservation{
		ID: got.ID, RentalID: uuid.MustParse(kayak), RentalName: "Thing", Status: "reserved", Quantity: 2,
		StartDate: day, EndDate: day + 1, StartTime: &from, EndTime: &to, Extras: []rental.Extra{},
		Units: []rental.Unit{}, CustomerName: "Zoë", FormData: json.RawMessage("{}"), Locale: "pt",
		Timezone: "Europe/Lisbon", CreatedAt: morning, UpdatedAt: morning,
		ManageURL: got.ManageURL,
	}
	shown, err := s.client.Link(t.Context(), s.offer.ID, got.ID)
	if err != nil || shown == "" || shown != got.ManageURL {
		t.Errorf("the link was %q and is %q, %v", got.ManageURL, shown, err)
	}
	if _, err := s.client.Link(t.Context(), s.offer.ID, uuid.New()); !fault.Is(err, fault.NotFound) {
		t.Errorf("the link of an unknown reservation: %v", err)
	}
	if _, err := s.client.Reservation(t.Context(), s.offer.Slug, uuid.New()); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown reservation: %v", err)
	}
	read, err := s.client.Reservation(t.Context(), s.offer.Slug, got.ID)
	if err != nil {
		t.Fatal(err)
	}
	read.ManageURL = got.ManageURL // only the answer to the reservation has it
	if diff := cmp.Diff(want, read); diff != "" {
		t.Errorf("read (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reserved (-want +got):\n%s", diff)
	}
	want.ManageURL = "" // only the answer to the reservation has it
	list, err := s.client.Reservations(t.Context(), "harbor", rental.Filter{From: &day}, request.Page{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&rental.ReservationList{Reservations: []rental.Reservation{*want}}, list); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
	for status, want := range map[string]int{rental.StatusReserved: 1, rental.StatusPickedUp: 0} {
		if list, err := s.client.Reservations(t.Context(), "harbor", rental.Filter{Status: status},
			request.Page{}); err != nil || len(list.Reservations) != want {
			t.Errorf("%s: %+v, %v; want %d", status, list, err, want)
		}
	}
	if n, err := s.client.CountAhead(t.Context(), "harbor"); err != nil || n != 1 {
		t.Errorf("%d future reservations, %v; want 1", n, err)
	}
	mailed := newRequest(kayak, 1, "2027-06-11", "2027-06-11", "09:00", "10:00")
	mailed.CustomerEmail, mailed.Locale = new(" zoe@example.com "), "EN-gb"
	if r, err := s.client.Reserve(t.Context(), "harbor", mailed); err != nil || r.CustomerEmail == nil ||
		*r.CustomerEmail != "zoe@example.com" || r.Locale != "en" {
		t.Errorf("with an address and a language: %+v, %v", r, err)
	}
	daily := s.reserve(t, single, 1, "2027-06-11", "2027-06-12", "22:00", "02:00")
	if daily.StartTime != nil || daily.EndTime != nil {
		t.Errorf("a rental by the day has times: %v %v", daily.StartTime, daily.EndTime)
	}
}

func TestReserveRejectsUnavailableUnits(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.reserve(t, kayak, 2, "2027-06-11", "2027-06-11", "09:00", "11:00")
	for _, refused := range []rental.NewReservation{
		newRequest(kayak, 2, "2027-06-11", "2027-06-11", "10:59", "12:00"),
		newRequest(kayak, 2, "2027-06-11", "2027-06-11"), // all day
		newRequest(kayak, 4, "2027-06-12", "2027-06-12", "09:00", "10:00"),
		newRequest(unicorn, 1, "2027-06-11", "2027-06-11"),
		newRequest(tent, 3, "2027-06-13", "2027-06-20"),
	} {
		if _, err := s.client.Reserve(t.Context(), "harbor", refused); !fault.Is(err, fault.Conflict) {
			t.Errorf("%+v: %v", refused, err)
		}
	}
	s.reserve(t, kayak, 2, "2027-06-11", "2027-06-11", "11:00", "12:00")
	s.reserve(t, tent, 3, "2027-06-14", "2027-06-20")
	for _, id := range []string{unknown, retired} {
		if _, err := s.client.Reserve(t.Context(), "harbor",
			newRequest(id, 1, "2027-06-11", "2027-06-11")); !fault.Is(err,
			fault.RentalNotFound) {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func TestOwnerReservesInPastAndFarAhead(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.reserve(t, single, 1, "2027-05-01", "2027-05-02")
	s.reserve(t, single, 1, "2030-05-01", "2030-05-02")
}

func TestConcurrentReservationsShareLastUnits(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.reserve(t, bike, 7, "2027-06-11", "2027-06-14")
	var (
		wg   sync.WaitGroup
		errs = make([]error, 20)
	)
	for i := range errs {
		wg.Go(func() {
			_, errs[i] = s.client.Reserve(context.Background(), "harbor",
				newRequest(bike, 1, "2027-06-12", "2027-06-13"))
		})
	}
	wg.Wait()
	count := 0
	for _, err := range errs {
		if err == nil {
			count++
		} else if !fault.Is(err, fault.Conflict) {
			t.Errorf("got %v, want a conflict", err)
		}
	}
	if count != 3 {
		t.Errorf("%d of 20 succeeded, want 3", count)
	}
}

func TestOverdueMarksUnitsNotReturnedInTime(t *testing.T) {
	t.Parallel()
	s := start(t)
	ended := s.reserve(t, bike, 1, "2027-06-08", "2027-06-09")
	lastDay := s.reserve(t, bike, 1, "2027-06-09", "2027-06-10")
	gone := s.reserve(t, kayak, 1, "2027-06-10", "2027-06-10", "08:00", "09:30") // until the present instant
	underway := s.reserve(t, kayak, 1, "2027-06-10", "2027-06-10", "08:00", "09:31")
	noShow := s.reserve(t, bike, 1, "2027-06-01", "2027-06-02")
	for _, r := range []*rental.Reservation{ended, lastDay, gone, underway} {
		s.applyTransition(t, r.ID, "pickup")
	}
	overdue := func() map[uuid.UUID]bool {
		list, err := s.client.Reservations(t.Context(), "harbor", rental.Filter{}, request.Page{})
		if err != nil {
			t.Fatal(err)
		}
		marked := map[uuid.UUID]bool{}
		for _, r := range list.Reservations {
			marked[r.ID] = r.Overdue
		}
		return marked
	}
	want := map[uuid.UUID]bool{ended.ID: true, lastDay.ID: false, gone.ID: true, underway.ID: false, noShow.ID: false}
	if diff := cmp.Diff(want, overdue()); diff != "" {
		t.Errorf("overdue (-want +got):\n%s", diff)
	}
	if back := s.applyTransition(t, ended.ID, "return"); back.Overdue || back.Status != "returned" {
		t.Errorf("returned: %+v", back)
	}
	s.clock.Set(time.Date(2027, time.June, 10, 23, 0, 0, 0, time.UTC)) // 00:00 on the 11th in Lisbon
	want = map[uuid.UUID]bool{ended.ID: false, lastDay.ID: true, gone.ID: true, underway.ID: true, noShow.ID: false}
	if diff := cmp.Diff(want, overdue()); diff != "" {
		t.Errorf("overdue after midnight (-want +got):\n%s", diff)
	}
}

func TestCancelAndReturnFreeUnits(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, moves := range [][]string{{"cancel"}, {"pickup", "return"}} {
		r := s.reserve(t, single, 1, "2027-06-10", "2027-06-15")
		if _, err := s.client.Reserve(t.Context(), "harbor",
			newRequest(single, 1, "2027-06-12", "2027-06-12")); !fault.Is(err, fault.Conflict) {
			t.Fatalf("got %v, want a conflict", err)
		}
		for _, m := range moves {
			s.applyTransition(t, r.ID, m)
		}
	}
	s.reserve(t, single, 1, "2027-06-12", "2027-06-12")
}

func TestPickUpRejectsUnitNotYetReturned(t *testing.T) {
	t.Parallel()
	s := start(t)
	late := s.reserve(t, single, 1, "2027-06-10", "2027-06-10")
	next := s.reserve(t, single, 1, "2027-06-11", "2027-06-11")
	want := []rental.Unit{{RentalID: uuid.MustParse(single), Unit: "unit-1"}}
	if got := s.applyTransition(t, late.ID, "pickup"); !slices.Equal(got.Units, want) {
		t.Errorf("handed out with %v, want %v", got.Units, want)
	}
	s.clock.Set(time.Date(2027, time.June, 11, 9, 0, 0, 0, time.UTC))
	if _, err := s.client.Transition(t.Context(), "harbor", next.ID, "pickup"); !fault.Is(err, fault.NotEnoughUnits) {
		t.Errorf("while the unit is out: %v", err)
	}
	if got := s.applyTransition(t, late.ID, "return"); !slices.Equal(got.Units, want) {
		t.Errorf("after the return: %v, want %v", got.Units, want)
	}
	if got := s.applyTransition(t, next.ID, "pickup"); !slices.Equal(got.Units, want) {
		t.Errorf("handed out with %v, want %v", got.Units, want)
	}
}

func TestConcurrentPickUpsNeverShareUnit(t *testing.T) {
	t.Parallel()
	s := start(t)
	var ids []uuid.UUID
	for _, day := range []string{"2027-06-10", "2027-06-11", "2027-06-12"} {
		ids = append(ids, s.reserve(t, bike, 4, day, day).ID, s.reserve(t, bike, 3, day, day).ID)
	}
	var wg sync.WaitGroup
	for _, id := range ids {
		wg.Go(func() {
			if _, err := s.client.Transition(t.Context(), "harbor", id, "pickup"); err != nil &&
				!fault.Is(err, fault.NotEnoughUnits) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	var out, keys int
	err := s.pool.QueryRow(t.Context(),
		`SELECT (SELECT coalesce(sum(quantity), 0) FROM reservations WHERE status = 'picked_up'),
		(SELECT count(DISTINCT unit) FROM handed_out)`).Scan(&out, &keys)
	if err != nil || out != keys || out == 0 {
		t.Errorf("%d units are out under %d keys, %v", out, keys, err)
	}
}

// TestPickUpCountsUnitsWithoutKey shows that a pick-up counts units without a key. Older reservations were picked up
// before units had keys.
func TestPickUpCountsUnitsWithoutKey(t *testing.T) {
	t.Parallel()
	s := start(t)
	old, next := s.reserve(t, single, 1, "2027-06-10", "2027-06-10"),
		s.reserve(t, single, 1, "2027-06-11", "2027-06-11")
	s.applyTransition(t, old.ID, "pickup")
	if _, err := s.pool.Exec(t.Context(), `DELETE FROM handed_out`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.Transition(t.Context(), "harbor", next.ID, "pickup"); !fault.Is(err, fault.NotEnoughUnits) {
		t.Errorf("while it is out: %v", err)
	}
}

func TestForbiddenTransitionsAreConflicts(t *testing.T) {
	t.Parallel()
	s := start(t)
	r := s.reserve(t, single, 1, "2027-06-10", "2027-06-15")
	if _, err := s.client.Transition(t.Context(), "harbor", r.ID, "return"); !fault.Is(err, fault.Conflict) {
		t.Errorf("return before the pick-up: %v", err)
	}
	s.applyTransition(t, r.ID, "pickup")
	for _, m := range []string{"pickup", "cancel"} {
		if _, err := s.client.Transition(t.Context(), "harbor", r.ID, m); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s after the pick-up: %v", m, err)
		}
	}
	for name, call := range map[string]func() error{
		"an unknown id": func() error {
			_, err := s.client.Transition(t.Context(), "harbor", uuid.New(), "return")
			return err
		},
		"an unknown move": func() error {
			_, err := s.client.Transition(t.Context(), "harbor", r.ID, "lose")
			return err
		},
		"another business": func() error {
			_, err := s.client.Transition(t.Context(), "elsewhere", r.ID, "return")
			return err
		},
	} {
		if err := call(); fault.Of(err).Kind.Status != 404 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestInvalidIDIsNotFound(t *testing.T) {
	t.Parallel()
	s := start(t)
	id := uuid.NewString()
	for _, path := range []string{"harbor/reservations/kayak", "harbor/reservations/" + id,
		id + "/reservations/kayak/link", id + "/reservations/" + id + "/link"} {
		if answer := fetch(t, s.base+"/internal/businesses/"+path, nil); answer.status != 404 ||
			!strings.Contains(answer.body, "Reservation not found") {
			t.Errorf("%s: %d %s", path, answer.status, answer.body)
		}
	}
}

func TestReserveRejectsInvalidFields(t *testing.T) {
	t.Parallel()
	s := start(t)
	for field, change := range map[string]func(*rental.NewReservation){
		"rental_id":      func(r *rental.NewReservation) { r.RentalID = "kayak" },
		"start_date":     func(r *rental.NewReservation) { r.StartDate = "2027-02-29" },
		"end_date":       func(r *rental.NewReservation) { r.EndDate = "2027-06-01" },
		"end_date: ":     func(r *rental.NewReservation) { r.EndDate = "" },
		"too long":       func(r *rental.NewReservation) { r.EndDate = "2029-06-10" },
		"start_time":     func(r *rental.NewReservation) { r.StartTime = nil },
		"start_time: ":   func(r *rental.NewReservation) { r.StartTime = new("24:00") },
		"end_time":       func(r *rental.NewReservation) { r.EndTime = nil },
		"end_time: ":     func(r *rental.NewReservation) { r.EndTime = new("09:00") },
		"end_time: \"\"": func(r *rental.NewReservation) { r.EndTime = new("") },
		"quantity":       func(r *rental.NewReservation) { r.Quantity = 0 },
		"quantity: ":     func(r *rental.NewReservation) { r.Quantity = 1001 },
		"customer_name":  func(r *rental.NewReservation) { r.CustomerName = " " },
		"customer_name:": func(r *rental.NewReservation) { r.CustomerName = strings.Repeat("z", 201) },
		"customer_email": func(r *rental.NewReservation) { r.CustomerEmail = new("zoe") },
		"one line":       func(r *rental.NewReservation) { r.CustomerName = "Zoë\nHall" },
	} {
		r := newRequest(kayak, 1, "2027-06-11", "2027-06-11", "09:00", "10:00")
		change(&r)
		_, err := s.client.Reserve(t.Context(), "harbor", r)
		if !fault.Is(err, fault.InvalidParameter) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	if answer := s.post(t, "/internal/businesses/harbor/reservations", `{"quantity": "many"}`); answer.status != 400 {
		t.Errorf("a text for a number: %d %s", answer.status, answer.body)
	}
}

func TestListRejectsInvalidFilters(t *testing.T) {
	t.Parallel()
	s := start(t)
	early, late := timespan.NewDate(2027, 6, 1), timespan.NewDate(2027, 6, 2)
	for field, call := range map[string]func() error{
		"to":     func() error { return s.list(t, rental.Filter{From: &late, To: &early}, request.Page{}) },
		"status": func() error { return s.list(t, rental.Filter{Status: "lost"}, request.Page{}) },
		"limit":  func() error { return s.list(t, rental.Filter{}, request.Page{Limit: 1001}) },
		"cursor": func() error { return s.list(t, rental.Filter{}, request.Page{Cursor: "x"}) },
	} {
		if err := call(); !fault.Is(err, fault.InvalidParameter) || !strings.Contains(err.Error(), field+":") {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func (s service) list(t *testing.T, filter rental.Filter, page request.Page) error {
	t.Helper()
	_, err := s.client.Reservations(t.Context(), "harbor", filter, page)
	return err
}

func TestRetriesGetFirstAnswer(t *testing.T) {
	t.Parallel()
	s := start(t)
	withKey := func(key string) context.Context {
		return idempotency.With(t.Context(), idempotency.Request{Key: key})
	}
	req := rental.NewReservation{RentalID: kayak, StartDate: "2027-06-11", EndDate: "2027-06-12", Quantity: 3,
		CustomerName: "Zoë"}
	req.StartTime, req.EndTime = nil, nil
	first, err := s.client.Reserve(withKey("a"), "harbor", req)
	if err != nil {
		t.Fatal(err)
	}
	second, err := s.client.Reserve(withKey("a"), "harbor", req)
	if diff := cmp.Diff(first, second); diff != "" || err != nil {
		t.Errorf("the same request: %v %s", err, diff)
	}
	if _, err := s.client.Reserve(withKey("b"), "harbor", req); !fault.Is(err, fault.Conflict) {
		t.Errorf("another key, where no units are left: %v", err)
	}
	req.Quantity = 1
	if _, err := s.client.Reserve(withKey("a"), "harbor", req); !fault.Is(err, fault.IdempotencyMismatch) {
		t.Errorf("another reservation under the key: %v", err)
	}
	for range 2 {
		updated, err := s.client.Transition(withKey("c"), "harbor", first.ID, rental.TransitionPickup)
		if err != nil || updated.Status != rental.StatusPickedUp {
			t.Errorf("pickup: %+v, %v", updated, err)
		}
	}
}
