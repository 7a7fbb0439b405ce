package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/limits"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/ratelimit"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/message"
	"github.com/slotmesh/slotmesh/libs/values/rule"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/rental/internal/api"
	"github.com/slotmesh/slotmesh/services/rental/internal/occupancy"
	"github.com/slotmesh/slotmesh/services/rental/internal/store"
	"github.com/slotmesh/slotmesh/services/rental/internal/usecase"
	"github.com/slotmesh/slotmesh/services/rental/migrations"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

// bike, kayak and the ids below are ids of rentals.
const (
	bike  = "11111111-1111-4111-8111-111111111111" // rented by the day, 10 units
	kayak = "22222222-2222-4222-8222-222222222222" // rented by the hour, 3 units
	// tent is rented by the day: 6 offered, but only 4 units. One is out of service, and one is in maintenance on 12
	// and 13 June.
	tent    = "33333333-3333-4333-8333-333333333333"
	unicorn = "44444444-4444-4444-8444-444444444444" // rented by the day, 2 units, none offered
	retired = "55555555-5555-4555-8555-555555555555"
	single  = "66666666-6666-4666-8666-666666666666" // rented by the day, 1 unit
	unknown = "77777777-7777-4777-8777-777777777777"
)

// morning is 09:30 on 10 June 2027 in Lisbon. It is the time of each test until the test changes the clock.
var morning = time.Date(2027, time.June, 10, 8, 30, 0, 0, time.UTC)

// newOffer returns the offer of a business with a new id. Each test has another id, because parallel tests share the
// idempotency locks of the database.
func newOffer() *catalog.Snapshot {
	units := func(n int) []catalog.RentalUnit {
		list := make([]catalog.RentalUnit, n)
		for i := range list {
			list[i].Key, list[i].InService = fmt.Sprintf("unit-%d", i+1), true
		}
		return list
	}
	daily := func(id string, quantity *int, units []catalog.RentalUnit) catalog.Rental {
		return catalog.Rental{
			ID: uuid.MustParse(id), Name: "Thing", Active: true, PriceType: catalog.PriceDaily, Quantity: quantity,
			Units: units,
		}
	}
	away := units(4)
	away[0].InService = false
	june := timespan.NewDate(2027, time.June, 12)
	away[1].Maintenance = []catalog.Maintenance{{From: june, To: june}, {From: june, To: june + 1}}
	hourly := daily(kayak, new(3), units(3))
	hourly.PriceType = catalog.PriceHourly
	gone := daily(retired, new(5), units(5))
	gone.Active = false
	o := &catalog.Snapshot{
		ID: uuid.New(), Slug: "harbor", Version: 3, Timezone: "Europe/Lisbon",
		Currency: "EUR", DefaultLanguage: "pt", Languages: []string{"pt", "en"},
		Modules:  catalog.Modules{Rentals: true},
		Bookings: catalog.Bookings{AdvanceDays: 365, MaxOpenPerCustomer: 1000},
		Rentals: []catalog.Rental{
			daily(bike, new(10), units(10)), hourly, daily(tent, new(6), away), daily(unicorn, nil, units(2)), gone,
			daily(single, new(1), units(1)),
		},
	}
	if err := o.Prepare(); err != nil {
		panic(err)
	}
	return o
}

// fakePeers is a fake of catalog and pricing, with a store that can fail.
type fakePeers struct {
	*store.Store
	mu           sync.Mutex
	offer        *catalog.Snapshot
	offerErr     error
	staleOffer   *catalog.Snapshot // a stale offer that Get returns instead of `offer`, if not nil
	pricesErr    error
	occupyingErr error
}

var (
	_ api.Offers  = (*fakePeers)(nil)
	_ api.Records = (*fakePeers)(nil)
)

func (n *fakePeers) change(f func(*fakePeers)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f(n)
}

func (n *fakePeers) Get(ctx context.Context, slug string) (*catalog.Snapshot, error) {
	n.mu.Lock()
	stale := n.staleOffer
	n.mu.Unlock()
	if stale != nil && slug == stale.Slug {
		return stale, nil
	}
	return n.Fresh(ctx, slug)
}

func (n *fakePeers) Fresh(_ context.Context, slug string) (*catalog.Snapshot, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.offerErr == nil && slug != n.offer.Slug {
		return nil, fault.New(fault.BusinessNotFound, "Business not found")
	}
	return n.offer, n.offerErr
}

// Snapshot returns the offer of a business by its id. It may be stale.
func (n *fakePeers) Offer(ctx context.Context, id uuid.UUID) (*catalog.Snapshot, error) {
	offer, err := n.Get(ctx, "harbor")
	if err == nil && offer.ID != id {
		err = fault.New(fault.BusinessNotFound, "Business not found")
	}
	return offer, err
}

// Uncached returns the newest offer of a business by its id.
func (n *fakePeers) Uncached(ctx context.Context, id uuid.UUID) (*catalog.Snapshot, error) {
	offer, err := n.Fresh(ctx, "harbor")
	if err == nil && offer.ID != id {
		err = fault.New(fault.BusinessNotFound, "Business not found")
	}
	return offer, err
}

// Quotes returns the price of a unit in the offer. Five or more hours or days cost half of it.
func (n *fakePeers) Quotes(_ context.Context, r pricing.QuotesRequest) (*pricing.QuotesResponse, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.pricesErr != nil {
		return nil, n.pricesErr
	}
	answer := &pricing.QuotesResponse{OfferVersion: n.offer.Version, Currency: n.offer.Currency}
	for _, item := range r.Items {
		quote := pricing.Quote{Price: n.offer.Rental(item.ID).Price}
		if *item.Units >= 5 {
			quote.Price /= 2
			quote.Steps = []pricing.Step{{Rule: "long", Kind: string(rule.Duration), Before: "more", After: "less"}}
		}
		answer.Quotes = append(answer.Quotes, quote)
	}
	return answer, nil
}

func (n *fakePeers) AtLeast(ctx context.Context, slug string, version int64) (*catalog.Snapshot, error) {
	offer, err := n.Get(ctx, slug)
	if err == nil && version > offer.Version {
		return nil, errors.New("the version asked for does not exist")
	}
	return offer, err
}

func (n *fakePeers) FindOccupying(ctx context.Context, businessID uuid.UUID, ids []uuid.UUID,
	d occupancy.Dates) (map[uuid.UUID][]occupancy.Reservation, error) {
	n.mu.Lock()
	err := n.occupyingErr
	n.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return n.Store.FindOccupying(ctx, businessID, ids, d)
}

// requestTimeout is the timeout of a request, measured by the clock of the test.
const requestTimeout = 20 * time.Second

// service is a running service: its public and internal API and its database schema.
type service struct {
	*fakePeers
	pool           *pgxpool.Pool
	clock          *clock.Manual
	payments       *fakePayments // the payments of booking
	reconciliation *usecase.Reconciliation
	links          *link.Links
	public         string
	client         *rental.Client
	base           string // base URL of the internal API
}

func start(t *testing.T) service {
	t.Helper()
	pool := testkit.Postgres(t, "rental", migrations.FS)
	n := &fakePeers{Store: store.New(pool), offer: newOffer()}
	now := clock.Fixed(morning)
	tel := telemetry.Discard()
	srv, err := server.New(server.Config{
		PublicAddr: "127.0.0.1:0", InternalAddr: "127.0.0.1:0", RequestTimeout: 2 * time.Minute,
		DrainTimeout:    2 * time.Minute,
		PublicBodyLimit: 1 << 10, InternalBodyLimit: 1 << 20, TrustedProxies: []string{"127.0.0.1"},
	}, server.Runtime{Open: true, Name: "rental", Clock: now, Telemetry: tel})
	if err != nil {
		t.Fatal(err)
	}
	sentences, err := message.Load()
	if err != nil {
		t.Fatal(err)
	}
	local := ratelimit.NewLocal(now)
	srv.Limit(limits.New(limits.Config{}, local, local, tel).Pass)
	public := api.NewPublic(n, n, sentences, now, tel)
	public.Mount(srv.Public)
	public.MountForPeers(srv.Internal)
	links, err := (&link.Config{Secrets: []string{"0f9e8d7c6b5a49382716f5e4d3c2b1a0"},
		PagesURL: "https://book.example.org"}).Open()
	if err != nil {
		t.Fatal(err)
	}
	payments := newFakePayments(now)
	reconciliation := usecase.NewReconciliation(n.Store, payments, now, tel)
	owner := usecase.NewOwner(n, n, n, payments, links, requestTimeout, now, tel)
	owner.AbandonTimeout = testkit.MaxWait
	customerLinks := usecase.NewCustomerLinks(n, n, payments, reconciliation, now)
	api.NewCustomerLinks(customerLinks).Mount(srv.Internal)
	api.NewCustomerSessions(usecase.NewCustomerSessions(n, fakeSessions{}, customerLinks, links), n).Mount(srv.Internal)
	api.NewInternal(owner, reconciliation, n, n, links, now).Mount(srv.Internal)
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	base := "http://" + srv.InternalAddr().String()
	p := peer.New("rental", base, tel, peer.Timeout(testkit.MaxWait))
	t.Cleanup(func() {
		p.Close()
		http.DefaultClient.CloseIdleConnections()
		stop()
		if err := <-done; err != nil {
			t.Errorf("the service did not stop cleanly: %v", err)
		}
	})
	return service{
		fakePeers: n, pool: pool, clock: now, payments: payments, reconciliation: reconciliation, links: links,
		public: "http://" + srv.PublicAddr().String(), client: rental.NewClient(p), base: base,
	}
}

type reply struct {
	status int
	header http.Header
	body   string
}

// get reads a path of the public API. Without `header`, each request comes from a new address.
func (s service) get(t *testing.T, path string, header http.Header, query ...string) reply {
	t.Helper()
	if header == nil {
		header = http.Header{"X-Forwarded-For": {nextAddress()}}
	}
	return fetch(t, s.public+"/api/public/"+path, header, query...)
}

func fetch(t *testing.T, at string, header http.Header, query ...string) reply {
	t.Helper()
	values := url.Values{}
	for i := 0; i+1 < len(query); i += 2 {
		values.Add(query[i], query[i+1])
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, at+"?"+values.Encode(), nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = header
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	return read(t, answer)
}

// nextAddress returns an address in a new /64 network, because limits count by /64.
func nextAddress() string {
	id := uuid.NewString()
	return "2001:db8:" + id[:4] + ":" + id[4:8] + "::1"
}

func read(t *testing.T, answer *http.Response) reply {
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
	if r.header.Get("Cache-Control") != "no-store" {
		t.Errorf("Cache-Control is %q", r.header.Get("Cache-Control"))
	}
}

// check requests /rental-availability in English.
func (s service) check(t *testing.T, query ...string) reply {
	t.Helper()
	return s.get(t, "harbor/rental-availability", nil, append([]string{"lang", "en"}, query...)...)
}

// days requests /rental-available-dates with the internal API, as the service availability does.
func (s service) days(t *testing.T, query ...string) reply {
	t.Helper()
	return fetch(t, s.base+"/internal/api/public/harbor/rental-available-dates", http.Header{}, query...)
}

const available = `{"available": true}`

func unavailable(code, reason string) string {
	body, _ := json.Marshal(map[string]any{"available": false, "messageCode": code, "conflictReason": reason})
	return string(body)
}

// reserve makes a reservation with the internal API.
func (s service) reserve(t *testing.T, id string, quantity int, from, to string, times ...string) *rental.Reservation {
	t.Helper()
	reservation, err := s.client.Reserve(t.Context(), "harbor", newRequest(id, quantity, from, to, times...))
	if err != nil {
		t.Fatal(err)
	}
	return reservation
}

func newRequest(id string, quantity int, from, to string, times ...string) rental.NewReservation {
	r := rental.NewReservation{RentalID: id, Quantity: quantity, StartDate: from, EndDate: to, CustomerName: "Zoë"}
	if len(times) == 2 {
		r.StartTime, r.EndTime = &times[0], &times[1]
	}
	return r
}

func (s service) applyTransition(t *testing.T, id uuid.UUID, name string) *rental.Reservation {
	t.Helper()
	updated, err := s.client.Transition(t.Context(), "harbor", id, name)
	if err != nil {
		t.Fatal(err)
	}
	return updated
}

func (s service) post(t *testing.T, path, body string) reply {
	t.Helper()
	answer, err := http.Post(s.base+path, "application/json", bytes.NewBufferString(body))
	if err != nil {
		t.Fatal(err)
	}
	return read(t, answer)
}
