package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/limits"
	"github.com/slotmesh/slotmesh/libs/platform/ratelimit"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

// Ids of the business that the tests ask about.
var (
	haircut = uuid.MustParse("11111111-1111-4111-8111-111111111111") // Anna and Ben, 60 minutes
	colour  = uuid.MustParse("22222222-2222-4222-8222-222222222222") // Anna, 30 minutes
	sauna   = uuid.MustParse("33333333-3333-4333-8333-333333333333") // no staff, 2 at a time, 60 minutes
	yoga    = uuid.MustParse("44444444-4444-4444-8444-444444444444") // class-based
	// its session on Wednesdays at 18:00, ben's, 10 seats
	evening = uuid.MustParse("66666666-6666-4666-8666-666666666666")
	long    = uuid.MustParse("88888888-8888-4888-8888-888888888888") // cut's variant, 120 minutes
	retired = uuid.MustParse("55555555-5555-4555-8555-555555555555")
	anna    = uuid.MustParse("aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa")
	ben     = uuid.MustParse("bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb")
)

const monday = "2027-03-01" // now is 08:00 of this day in Lisbon, where it is UTC

// newHarbor returns a business that is open on weekdays from 09:00 to 12:00 and on Fridays also from 22:00 to 01:00,
// with starts on the hour.
func newHarbor() *catalog.Snapshot {
	wednesday := time.Wednesday
	o := &catalog.Snapshot{
		ID: uuid.MustParse("99999999-9999-4999-8999-999999999999"), Slug: "harbor", Version: 3,
		Timezone: "Europe/Lisbon", Currency: "EUR", Modules: catalog.Modules{Services: true},
		Bookings: catalog.Bookings{SlotIntervalMinutes: 60, AdvanceDays: 30},
		Staff: []catalog.Staff{
			{ID: anna, Name: `Anna "A" <Ω>`, Active: true, Order: 1},
			{ID: ben, Name: "Ben", Active: true, Order: 2},
		},
		Services: []catalog.Service{
			{
				ID: haircut, Active: true, DurationMinutes: 60, StaffIDs: []uuid.UUID{anna, ben},
				Variants: []catalog.Variant{{ID: long, DurationMinutes: 120}},
			},
			{ID: colour, Active: true, DurationMinutes: 30, StaffIDs: []uuid.UUID{anna}},
			{ID: sauna, Active: true, DurationMinutes: 60, Capacity: 2},
			{
				ID: yoga, Active: true, DurationMinutes: 60,
				Classes: []catalog.ClassSession{{ID: evening, Key: "evening", Weekday: &wednesday, Time: 18 * 60,
					Capacity: 10, StaffID: &ben}},
			},
			{ID: retired, DurationMinutes: 60},
		},
	}
	for i := range o.Services {
		o.Services[i].SlotIntervalMinutes = 60
	}
	for d := time.Monday; d <= time.Friday; d++ {
		o.Hours[d] = []timespan.Window{{From: 9 * 60, To: 12 * 60}}
	}
	o.Hours[time.Friday] = append(o.Hours[time.Friday], timespan.Window{From: 22 * 60, To: 25 * 60})
	if err := o.Prepare(); err != nil {
		panic(err)
	}
	return o
}

// fakePeers is a fake of catalog and booking.
type fakePeers struct {
	mu               sync.Mutex
	offer            *catalog.Snapshot
	offerErr         error
	busy             []booking.Busy
	seats            []booking.SeatsTaken
	busyErr          error
	requestedWindows []timespan.Span
	requestedSeats   bool
	requestedMoving  *uuid.UUID
	rentals          fakeRental
	readTimeout      time.Duration
}

var (
	_ Offers         = (*fakePeers)(nil)
	_ OccupiedReader = (*fakePeers)(nil)
)

func (n *fakePeers) Get(_ context.Context, slug string) (*catalog.Snapshot, error) {
	if n.offerErr == nil && slug != n.offer.Slug {
		return nil, fault.New(fault.BusinessNotFound, "Business not found")
	}
	return n.offer, n.offerErr
}

func (n *fakePeers) AtLeast(ctx context.Context, slug string, version int64) (*catalog.Snapshot, error) {
	if version > n.offer.Version {
		return nil, errors.New("the version asked for does not exist")
	}
	return n.Get(ctx, slug)
}

func (n *fakePeers) Occupied(_ context.Context, id uuid.UUID, from, to time.Time,
	asked booking.OccupiedQuery) (*booking.Occupied, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if id != n.offer.ID {
		return nil, errors.New("asked for another business")
	}
	n.requestedWindows = append(n.requestedWindows, timespan.Span{Start: from.Unix(), End: to.Unix()})
	occupied := &booking.Occupied{Busy: n.busy}
	if n.requestedMoving = asked.Except; asked.Except != nil {
		occupied.Busy = nil // all of it is this booking's
	}
	if n.requestedSeats = asked.Seats; asked.Seats {
		occupied.Seats = n.seats
	}
	return occupied, n.busyErr
}

// service runs both APIs on loopback.
type service struct {
	*fakePeers
	public, internal string
}

func startService(t *testing.T, change func(*fakePeers)) service {
	t.Helper()
	n := &fakePeers{offer: newHarbor()}
	if change != nil {
		change(n)
	}
	now := clock.Fixed(time.Date(2027, time.March, 1, 8, 0, 0, 0, time.UTC))
	tel := telemetry.Discard()
	srv, err := server.New(server.Config{
		PublicAddr: "127.0.0.1:0", InternalAddr: "127.0.0.1:0", RequestTimeout: 2 * time.Minute,
		DrainTimeout:    2 * time.Minute,
		PublicBodyLimit: 1 << 10, InternalBodyLimit: 1 << 20, TrustedProxies: []string{"127.0.0.1"},
	}, server.Runtime{Open: true, Name: "availability", Clock: now, Telemetry: tel})
	if err != nil {
		t.Fatal(err)
	}
	local := ratelimit.NewLocal(now)
	srv.Limit(limits.New(limits.Config{}, local, local, tel).Pass)
	public := NewPublic(n, n, now, tel)
	public.ReadTimeout = n.readTimeout
	public.Mount(srv.Public)
	public.MountForPeers(srv.Internal)
	NewRentalDates(public, &n.rentals).Mount(srv.Public)
	NewInternal(n, now).Mount(srv.Internal)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		stop()
		if err := <-done; err != nil {
			t.Errorf("the service did not stop cleanly: %v", err)
		}
	})
	return service{fakePeers: n, public: "http://" + srv.PublicAddr().String(),
		internal: "http://" + srv.InternalAddr().String()}
}

type reply struct {
	status int
	header http.Header
	body   string
}

func (s service) get(t *testing.T, path string, query ...string) reply {
	t.Helper()
	values := url.Values{}
	for i := 0; i+1 < len(query); i += 2 {
		values.Add(query[i], query[i+1])
	}
	answer, err := http.Get(s.public + "/api/public/" + path + "?" + values.Encode())
	if err != nil {
		t.Fatal(err)
	}
	return readReply(t, answer)
}

func readReply(t *testing.T, answer *http.Response) reply {
	t.Helper()
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply{answer.StatusCode, answer.Header, string(body)}
}

func (r reply) expect(t *testing.T, status int, body string) {
	t.Helper()
	if r.status != status {
		t.Errorf("status %d, want %d: %s", r.status, status, r.body)
	}
	var got, want any
	if err := errors.Join(json.Unmarshal([]byte(r.body), &got), json.Unmarshal([]byte(body), &want)); err != nil {
		t.Fatalf("%s: %v", r.body, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

func (r reply) decode(t *testing.T, target any) {
	t.Helper()
	if err := json.Unmarshal([]byte(r.body), target); err != nil {
		t.Fatalf("%s: %v", r.body, err)
	}
}

func parseInstant(text string) int64 {
	t, err := time.Parse("2006-01-02T15:04", text)
	if err != nil {
		panic(err)
	}
	return t.Unix()
}

func newBusy(id uuid.UUID, unit int, from, to string) booking.Busy {
	return booking.Busy{Resource: booking.Resource{ID: id, CapacityUnit: unit},
		Edges: []int64{parseInstant(from), parseInstant(to)}}
}

func TestSlotsListsStartsOfEachMember(t *testing.T) {
	t.Parallel()
	s := startService(t, func(n *fakePeers) {
		n.busy = []booking.Busy{newBusy(anna, 0, "2027-03-01T09:30", "2027-03-01T10:30")}
	})
	got := s.get(t, "harbor/slots", "date", monday, "service_id", haircut.String())
	got.expect(t, 200, `{"computed": true, "timezone": "Europe/Lisbon", "slots": [
		{"time": "09:00", "endTime": "10:00", "staffId": "`+ben.String()+`", "staffName": "Ben", "date": "2027-03-01", "dateOffset": 0},
		{"time": "10:00", "endTime": "11:00", "staffId": "`+ben.String()+`", "staffName": "Ben", "date": "2027-03-01", "dateOffset": 0},
		{"time": "11:00", "endTime": "12:00", "staffId": "`+anna.String()+`", "staffName": "Anna \"A\" <Ω>", "date": "2027-03-01", "dateOffset": 0},
		{"time": "11:00", "endTime": "12:00", "staffId": "`+ben.String()+`", "staffName": "Ben", "date": "2027-03-01", "dateOffset": 0}]}`)
	if c := got.header.Get("Cache-Control"); c != "no-store" {
		t.Errorf("Cache-Control is %q", c)
	}
	if c := got.header.Get("Content-Type"); c != "application/json" {
		t.Errorf("Content-Type is %q", c)
	}
}

func TestSlotsDatesStartsAfterMidnight(t *testing.T) {
	t.Parallel()
	s := startService(t, func(n *fakePeers) {
		n.busy = []booking.Busy{newBusy(sauna, 1, "2027-03-05T08:00", "2027-03-06T00:00"),
			newBusy(sauna, 2, "2027-03-05T08:00", "2027-03-06T00:00")}
	})
	s.get(t, "harbor/slots", "date", "2027-03-05", "service_id", sauna.String()).expect(t, 200,
		`{"computed": true, "timezone": "Europe/Lisbon", "slots": [
		{"time": "00:00", "endTime": "01:00", "staffId": null, "staffName": null, "date": "2027-03-06", "dateOffset": 1}]}`)
	s.get(t, "harbor/slots", "date", "2027-03-06", "service_id", sauna.String()).expect(t, 200,
		`{"computed": true, "timezone": "Europe/Lisbon", "slots": []}`)
}

func TestAvailableDatesCountsListedSlots(t *testing.T) {
	t.Parallel()
	s := startService(t, func(n *fakePeers) {
		n.busy = []booking.Busy{newBusy(anna, 0, "2027-03-01T09:30", "2027-03-01T10:30")}
	})
	got := s.get(t, "harbor/available-dates", "start", "2027-02-26", "end", "2027-03-06", "service_id",
		haircut.String())
	got.expect(t, 200, `{"computed": true, "timezone": "Europe/Lisbon", "days": {"2027-03-01": 4, "2027-03-02": 6,
		"2027-03-03": 6, "2027-03-04": 6, "2027-03-05": 12, "2027-03-06": 0}}`)
	if c := got.header.Get("Cache-Control"); c != "public, max-age=10" {
		t.Errorf("Cache-Control is %q", c)
	}
	s.get(t, "harbor/available-dates", "start", "2027-03-30", "end", "2027-04-03", "service_id", haircut.String(),
		"staff_id", ben.String()).
		expect(t, 200, `{"computed": true, "timezone": "Europe/Lisbon", "days": {"2027-03-30": 3, "2027-03-31": 3}}`)
}

func TestAvailableDatesSkipsBookingForPastWindow(t *testing.T) {
	t.Parallel()
	s := startService(t, func(n *fakePeers) { n.busyErr = errors.New("booking is away") })
	s.get(t, "harbor/available-dates", "start", "2027-01-01", "end", "2027-01-31", "service_id", haircut.String()).
		expect(t, 200, `{"days": {}, "computed": true, "timezone": "Europe/Lisbon"}`)
	if len(s.requestedWindows) > 0 {
		t.Errorf("booking was asked for %v", s.requestedWindows)
	}
}

func TestSlotsRequestsOnlyRelevantOccupiedTime(t *testing.T) {
	t.Parallel()
	s := startService(t, nil)
	for date, want := range map[string][]timespan.Span{
		// the last start could run into the hour after
		monday: {{Start: parseInstant("2027-03-01T09:00"), End: parseInstant("2027-03-01T13:00")}},
		// over midnight
		"2027-03-05": {{Start: parseInstant("2027-03-05T09:00"), End: parseInstant("2027-03-06T02:00")}},
		"2027-03-07": nil, // closed
	} {
		s.get(t, "harbor/slots", "date", date, "service_id", haircut.String())
		if diff := cmp.Diff(want, s.requestedWindows); diff != "" {
			t.Errorf("%s (-want +got):\n%s", date, diff)
		}
		s.requestedWindows = nil
	}
}

func TestCalendarsAnswerUncomputedWithoutPeers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change   func(*fakePeers)
		timezone string
	}{
		"booking is away": {func(n *fakePeers) {
			n.busyErr = fault.New(fault.PeerUnavailable, "away")
		}, "Europe/Lisbon"},
		"catalog is away": {func(n *fakePeers) { n.offerErr = fault.New(fault.PeerUnavailable, "away") }, ""},
		"catalog is slow": {func(n *fakePeers) { n.offerErr = context.DeadlineExceeded }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startService(t, c.change)
			for _, id := range []uuid.UUID{haircut, yoga} { // of a class, the seats cannot be read
				s.get(t, "harbor/slots", "date", monday, "service_id", id.String()).
					expect(t, 200, `{"slots": [], "computed": false, "timezone": "`+c.timezone+`"}`)
			}
			dates := s.get(t, "harbor/available-dates", "start", monday, "end", monday, "service_id", haircut.String())
			dates.expect(t, 200, `{"days": {}, "computed": false, "timezone": "`+c.timezone+`"}`)
			if c := dates.header.Get("Cache-Control"); c != "no-store" {
				t.Errorf("an unknown answer may be cached: %q", c)
			}
		})
	}
}

func TestSlotsNamesUnknownObjects(t *testing.T) {
	t.Parallel()
	s := startService(t, nil)
	stranger := uuid.MustParse("77777777-7777-4777-8777-777777777777")
	notFound := func(what, code string) string { return `{"error": "` + what + `", "messageCode": "` + code + `"}` }
	ask := func(slug string, ids ...string) reply {
		return s.get(t, slug+"/slots", "date", monday, "service_id", strings.Join(ids, ","))
	}
	ask("nowhere", haircut.String()).expect(t, 404, notFound("Business not found", "business_not_found"))
	ask("harbor", stranger.String()).expect(t, 404, notFound("Service not found: "+stranger.String(),
		"service_not_found"))
	ask("harbor", haircut.String(), retired.String()).expect(t, 404, notFound("Service not found: "+retired.String(),
		"service_not_found"))
	s.get(t, "harbor/slots", "date", monday, "service_id", haircut.String(), "staff_id", stranger.String()).
		expect(t, 200, `{"slots": [], "computed": true, "timezone": "Europe/Lisbon"}`)
	for _, together := range [][]string{{yoga.String(), haircut.String()}, {yoga.String(), yoga.String()}} {
		if r := ask("harbor", together...); r.status != 400 || !strings.Contains(r.body,
			"is a class, which is booked alone") {
			t.Errorf("a class together with another service: %d %s", r.status, r.body)
		}
	}
}

func TestSlotsRefusesBusinessWithoutServices(t *testing.T) {
	t.Parallel()
	s := startService(t, func(n *fakePeers) { n.offer.Modules.Services = false })
	s.get(t, "harbor/slots", "date", monday, "service_id", haircut.String()).
		expect(t, 404, `{"error": "Service not found: `+haircut.String()+`", "messageCode": "service_not_found"}`)
}

func TestCalendarsNameInvalidParameters(t *testing.T) {
	t.Parallel()
	id := haircut.String()
	many := strings.TrimSuffix(strings.Repeat(id+",", 21), ",")
	for _, c := range []struct{ path, query, sentence string }{
		{"slots", "service_id=" + id, "date: is missing"},
		{"slots", "date=2027-02-29&service_id=" + id, `date: "2027-02-29" is not a real calendar date`},
		{"slots", "date=2026-13-01&service_id=" + id, "date: "},
		{"slots", "date=%ff%fe&service_id=" + id, "date: is no text"},
		{"slots", "date=2027-03-01%00&service_id=" + id, "date: is no text"},
		{"slots", "date=2027-03-01&date=2027-03-02&service_id=" + id, "date: is given 2 times"},
		{"slots", "date=2027-03-01", "service_id: is missing"},
		{"slots", "date=2027-03-01&service_id=x", `service_id: "x" is not a UUID`},
		{"slots", "date=2027-03-01&service_id=%7B" + id + "%7D", "service_id: "},
		{"slots", "date=2027-03-01&service_id=" + id + ",", `service_id: "" is not a UUID`},
		{"slots", "date=2027-03-01&service_id=" + many, "Too many service_id values (max 20)."},
		{"slots", "date=2027-03-01&service_id=" + id + "&staff_id=anna", `staff_id: "anna" is not a UUID`},
		{"slots", "date=2027-03-01&service_id=" + id + "&variants=" + id + ":" + id,
			"variants: service " + id + " has no variant " + id},
		{"slots", "date=2027-03-01&service_id=" + id + "&variants=" + id, "variants: entry 1 is not a pair of UUIDs"},
		{"available-dates", "start=2027-03-01&end=2027-03-01&service_id=" + id + "&variants=" + anna.String() + ":" +
			id, "variants: service " + anna.String() + " is not asked for"},
		{"slots", "date=2027-03-01&service_id=" + yoga.String() + "&variants=" + yoga.String() + ":" + id,
			"variants: service " + yoga.String() + " is a class"},
		{"slots", "date=2027-03-01&service_id=" + id + "&is_package=true&is_package=true",
			"is_package: is given 2 times"},
		{"available-dates", "end=2027-03-01&service_id=" + id, "start: is missing"},
		{"available-dates", "start=2027-03-01&service_id=" + id, "end: is missing"},
		{"available-dates", "start=2027-03-02&end=2027-03-01&service_id=" + id, "end: 2027-03-01 lies before start"},
		{"available-dates", "start=2027-03-01&end=2027-05-02&service_id=" + id, "Window too large (max 62 days)."},
		{"available-dates", "start=2027-03-01&end=2027-05-01&service_id=" + many,
			"Too many service_id values (max 20)."},
	} {
		t.Run(c.path+"?"+c.query, func(t *testing.T) {
			t.Parallel()
			s := startService(t, nil)
			answer, err := http.Get(s.public + "/api/public/harbor/" + c.path + "?" + c.query)
			if err != nil {
				t.Fatal(err)
			}
			r := readReply(t, answer)
			var body struct{ Error, MessageCode string }
			if err := json.Unmarshal([]byte(r.body), &body); err != nil {
				t.Fatal(err)
			}
			if r.status != 400 || body.MessageCode != "invalid_parameter" || !strings.HasPrefix(body.Error,
				c.sentence) {
				t.Errorf("%d %s; want 400 and a sentence that begins %q", r.status, r.body, c.sentence)
			}
		})
	}
}

func TestAvailableDatesAcceptsLargestRequest(t *testing.T) {
	t.Parallel()
	s := startService(t, nil)
	twenty := strings.TrimSuffix(strings.Repeat(colour.String()+",", 20), ",")
	if r := s.get(t, "harbor/available-dates", "start", monday, "end", "2027-05-01", "service_id",
		twenty); r.status != 200 {
		t.Errorf("62 days and 20 services: %d %s", r.status, r.body)
	}
}

func TestLimitsCountByAddressAndPath(t *testing.T) {
	t.Parallel()
	s := startService(t, nil)
	ask := func(path, query, client string) *http.Response {
		request, err := http.NewRequest(http.MethodGet, s.public+"/api/public/harbor/"+path+"?"+query, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Forwarded-For", client)
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		readReply(t, answer)
		return answer
	}
	for path, limit := range map[string]int{"slots": 60, "available-dates": 20} {
		query := "service_id=" + haircut.String() + "&date=" + monday + "&start=" + monday + "&end=" + monday
		for i := range limit {
			if got := ask(path, query, "203.0.113.7").StatusCode; got != 200 {
				t.Fatalf("%s: request %d answers %d", path, i+1, got)
			}
		}
		refused := ask(path, "nonsense", "203.0.113.7")
		if refused.StatusCode != 429 || refused.Header.Get("Retry-After") != "60" {
			t.Errorf("%s: request %d answers %d, Retry-After %q", path, limit+1, refused.StatusCode,
				refused.Header.Get("Retry-After"))
		}
		if got := ask(path, query, "203.0.113.8").StatusCode; got != 200 {
			t.Errorf("%s: another address answers %d", path, got)
		}
	}
}

func TestReadOccupiedSplitsLongSpans(t *testing.T) {
	t.Parallel()
	n := &fakePeers{offer: newHarbor()}
	const most = int64(booking.MaxOccupiedWindow / time.Second)
	span := timespan.Span{Start: 1_000_000, End: 1_000_000 + 2*most + 5}
	edge := span.Start + most
	n.busy = []booking.Busy{{Resource: booking.Resource{ID: sauna, CapacityUnit: 1},
		Edges: []int64{edge - 10, edge + 10, edge + 20, edge + 30}}}
	got, err := readOccupied(t.Context(), n, n.offer.ID, span, booking.OccupiedQuery{})
	if err != nil {
		t.Fatal(err)
	}
	want := []timespan.Span{{Start: span.Start, End: edge}, {Start: edge, End: edge + most},
		{Start: edge + most, End: span.End}}
	if diff := cmp.Diff(want, n.requestedWindows); diff != "" {
		t.Errorf("pieces (-want +got):\n%s", diff)
	}
	if edges := got.Busy[1].Edges; len(edges) != 2 || edges[0] != edge+20 {
		t.Errorf("the second piece repeats what the first has: %v", edges)
	}
}

func (s service) postBookable(t *testing.T, change func(*availability.BookableRequest)) reply {
	t.Helper()
	date, err := timespan.ParseDate(monday)
	if err != nil {
		t.Fatal(err)
	}
	request := availability.BookableRequest{
		Slug: "harbor", OfferVersion: 3,
		Question: availability.Question{ServiceIDs: []uuid.UUID{haircut}, Date: date, Time: 9 * 60},
		Occupied: booking.Occupied{Busy: []booking.Busy{newBusy(anna, 0, "2027-03-01T09:30", "2027-03-01T10:30")}},
	}
	change(&request)
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	return s.post(t, body)
}

func (s service) post(t *testing.T, body []byte) reply {
	t.Helper()
	answer, err := http.Post(s.internal+"/internal/bookable", "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return readReply(t, answer)
}

func TestBookableReturnsAssignments(t *testing.T) {
	t.Parallel()
	s := startService(t, nil)
	ask := func(change func(*availability.BookableRequest)) []availability.Assignment {
		r := s.postBookable(t, change)
		var answer availability.BookableResponse
		if err := json.Unmarshal([]byte(r.body), &answer); r.status != 200 || err != nil || answer.Assignments == nil ||
			answer.OfferVersion != 3 {
			t.Fatalf("%d %s: %v", r.status, r.body, err)
		}
		return answer.Assignments
	}
	nine := timespan.Span{Start: parseInstant("2027-03-01T09:00"), End: parseInstant("2027-03-01T10:00")}
	byBen := []availability.Assignment{{StaffID: &ben, During: nine,
		Parts: []availability.Part{{Resource: booking.Resource{ID: ben}, Occupies: nine}}}}
	if diff := cmp.Diff(byBen, ask(func(*availability.BookableRequest) {})); diff != "" {
		t.Errorf("09:00, Anna busy (-want +got):\n%s", diff)
	}
	if got := ask(func(r *availability.BookableRequest) { r.Question.Time = 11 * 60 }); len(got) != 2 ||
		*got[0].StaffID != anna {
		t.Errorf("11:00: %v, want Anna before Ben", got)
	}
	if got := ask(func(r *availability.BookableRequest) { r.Question.StaffID = &anna }); len(got) != 0 {
		t.Errorf("09:00 by Anna: %v", got)
	}
	if got := ask(func(r *availability.BookableRequest) { r.Question.Time = 9*60 + 30 }); len(got) != 0 {
		t.Errorf("09:30 is off the grid: %v", got)
	}
	if got := ask(func(r *availability.BookableRequest) {
		r.Question.Time, r.Question.Override = 9*60+30,
			true
	}); len(got) != 1 || *got[0].StaffID != ben {
		t.Errorf("09:30 for the owner, Anna busy: %v, want Ben", got)
	}
	units := ask(func(r *availability.BookableRequest) {
		r.Question.ServiceIDs = []uuid.UUID{sauna}
		r.Occupied.Busy = []booking.Busy{newBusy(sauna, 1, "2027-03-01T09:30", "2027-03-01T09:40")}
	})
	if len(units) != 1 || units[0].StaffID != nil || len(units[0].Parts) != 3 ||
		units[0].Parts[1].Resource.CapacityUnit != 2 {
		t.Errorf("one unit busy for a while: %+v", units)
	}
}

func newVariants() map[uuid.UUID]uuid.UUID {
	many := map[uuid.UUID]uuid.UUID{}
	for range catalog.MaxVariants + 1 {
		many[uuid.New()] = long
	}
	return many
}

func TestBookableRefusesBadRequests(t *testing.T) {
	t.Parallel()
	s := startService(t, nil)
	for name, c := range map[string]struct {
		change func(*availability.BookableRequest)
		status int
	}{
		"no services": {func(r *availability.BookableRequest) { r.Question.ServiceIDs = nil }, 400},
		"21 services": {func(r *availability.BookableRequest) {
			r.Question.ServiceIDs = make([]uuid.UUID, 21)
		}, 400},
		"24:00": {func(r *availability.BookableRequest) { r.Question.Time = 1440 }, 400},
		"unknown variant": {func(r *availability.BookableRequest) {
			r.Question.Variants = map[uuid.UUID]uuid.UUID{haircut: anna}
		}, 400},
		"21 variants":     {func(r *availability.BookableRequest) { r.Question.Variants = newVariants() }, 400},
		"unknown service": {func(r *availability.BookableRequest) { r.Question.ServiceIDs[0] = anna }, 404},
		"unknown slug":    {func(r *availability.BookableRequest) { r.Slug = "nowhere" }, 404},
		"class with more": {func(r *availability.BookableRequest) {
			r.Question.ServiceIDs = []uuid.UUID{haircut, yoga}
		}, 400},
		"newer offer": {func(r *availability.BookableRequest) { r.OfferVersion = 4 }, 500},
	} {
		if r := s.postBookable(t, c.change); r.status != c.status {
			t.Errorf("%s: %d %s, want %d", name, r.status, r.body, c.status)
		}
	}
	for _, body := range []string{"", "{", `{"sluggish": 1}`, `{"slug": 1}`, `{} {}`, "[]"} {
		if r := s.post(t, []byte(body)); r.status != 400 {
			t.Errorf("body %q: %d %s", body, r.status, r.body)
		}
	}
}
