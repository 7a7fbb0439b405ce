package api_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog/eventapi"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/limits"
	"github.com/slotmesh/slotmesh/libs/platform/ratelimit"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/libs/values/apikey"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/rule"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/api"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment"
	"github.com/slotmesh/slotmesh/services/booking/internal/payment/stripe"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
	"github.com/slotmesh/slotmesh/services/booking/migrations"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

// now is the time at which each test begins: 2027-03-01 08:00 in Lisbon.
var now = time.Date(2027, 3, 1, 8, 0, 0, 0, time.UTC)

// fixture is a booking service with a real database. It is also the fake of catalog, availability and pricing.
type fixture struct {
	t        testing.TB
	pool     *pgxpool.Pool
	store    *store.Store
	clock    *clock.Manual
	public   string
	internal string
	http     *http.Client
	trips    roundTrips
	redis    commands
	limiter  limits.Limiter
	booker   *usecase.Booker

	mu            sync.Mutex
	offer         *catalog.Snapshot // nil: the business does not exist
	staleOffer    *catalog.Snapshot // the version that replicas have cached; nil: the newest
	catalogErr    error
	slotsErr      error
	pricesErr     error
	keysErr       error                            // error of looking up API keys
	hasSlots      bool                             // false: availability offers no slot
	refusal       string                           // the rule that availability returns if it offers no slot
	warnings      []string                         // the warnings that availability returns
	performers    []*uuid.UUID                     // staff of each service of a package
	bookableCalls int                              // number of calls to availability
	lastQuestion  availability.Question            // the last call to availability
	release       chan struct{}                    // availability waits until it is closed; nil: no wait
	mustWait      func(availability.Question) bool // calls that wait for `release`; nil: all
	waiting       chan struct{}                    // each waiting call sends to it; nil: none does
	meetingPoint  *meetingPoint                    // availability and pricing wait for each other; nil: no wait
	freshCalls    int                              // number of calls to catalog
	quotes        []pricing.QuotesRequest
}

var (
	cutID   = uuid.MustParse("11111111-1111-4111-8111-111111111111")
	saunaID = uuid.MustParse("22222222-2222-4222-8222-222222222222")
	freeID  = uuid.MustParse("33333333-3333-4333-8333-333333333333")
	annaID  = uuid.MustParse("aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa")
	benID   = uuid.MustParse("bbbbbbbb-bbbb-4bbb-8bbb-bbbbbbbbbbbb")
	carlID  = uuid.MustParse("cccccccc-cccc-4ccc-8ccc-cccccccccccc")
)

// newOffer returns a business with a service of three members, a service of three capacity units, and a free service.
func newOffer(t testing.TB) *catalog.Snapshot {
	t.Helper()
	staff := []uuid.UUID{annaID, benID, carlID}
	o := &catalog.Snapshot{
		ID: uuid.New(), Slug: "harbor", Version: 3, Name: "Harbor", Currency: "EUR", Timezone: "Europe/Lisbon",
		DefaultLanguage: "en", Languages: []string{"en", "pt"},
		Account:  catalog.Account{SubscriptionActive: true},
		Modules:  catalog.Modules{Services: true},
		Bookings: catalog.Bookings{MaxOpenPerCustomer: 1000},
		Payments: catalog.Payments{Modes: catalog.PaymentModes{Services: catalog.ModeCustomerChoice},
			Providers: []string{"stripe"}},
		Staff: []catalog.Staff{
			{ID: annaID, Name: "Anna", Active: true}, {ID: benID, Name: "Ben", Active: true},
			{ID: carlID, Name: "Carl", Active: true},
		},
		Services: []catalog.Service{
			{ID: cutID, Name: "Haircut", Active: true, DurationMinutes: 45, BufferAfterMinutes: 10, Price: 4000,
				StaffIDs: staff, PaymentRequirement: catalog.RequirementFull},
			{ID: saunaID, Name: "Sauna", Active: true, DurationMinutes: 60, Price: 1500, Capacity: 3,
				PaymentRequirement: catalog.RequirementNone},
			{ID: freeID, Name: "Advice", Active: true, DurationMinutes: 15, StaffIDs: staff,
				PaymentRequirement: catalog.RequirementFull},
			{ID: uuid.New(), Name: "Gone", DurationMinutes: 15},
		},
	}
	if err := o.Prepare(); err != nil {
		t.Fatal(err)
	}
	return o
}

// pagesURL is the base URL of the customers' links.
const pagesURL = "https://book.example.org"

// lockTimeout is how long a request holds its idempotency lock by the clock of the test, which tests advance. The
// deadline of requests follows the real clock and is much longer.
const lockTimeout = 20 * time.Second

// open starts a service with the rate limits `of`.
func open(t testing.TB, of limits.Config) *fixture {
	t.Helper()
	return openWithTelemetry(t, of, telemetry.Discard())
}

func openWithTelemetry(t testing.TB, of limits.Config, tel *telemetry.Telemetry) *fixture {
	t.Helper()
	// The limiter uses the clock of the test, because a test can take longer than a minute.
	return openWithLimiter(t, of, tel, func(w *fixture) limits.Limiter { return ratelimit.NewLocal(w.clock) })
}

// newRedisLimiter returns a limiter that counts requests in Redis, as the service does.
func newRedisLimiter(w *fixture) limits.Limiter {
	rdb, prefix := testkit.Redis(w.t)
	rdb.AddHook(&w.redis)
	return ratelimit.NewFallback(ratelimit.NewRedis(rdb, prefix, testkit.MaxWait), ratelimit.NewLocal(clock.System()),
		telemetry.Discard())
}

func openWithLimiter(t testing.TB, of limits.Config, tel *telemetry.Telemetry,
	counting func(*fixture) limits.Limiter) *fixture {
	t.Helper()
	w := &fixture{t: t, clock: clock.Fixed(now), offer: newOffer(t), hasSlots: true,
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}}
	w.limiter = counting(w)
	w.pool = withTracer(t, testkit.Postgres(t, "booking", migrations.FS), &w.trips)
	w.store = store.New(w.pool)
	w.public, w.internal = w.serve(of, tel)
	t.Cleanup(w.http.CloseIdleConnections)
	return w
}

// serve starts a replica and returns its public and its internal base URL.
func (w *fixture) serve(of limits.Config, tel *telemetry.Telemetry) (string, string) {
	t := w.t
	public, internal := listen(t), listen(t)
	cfg := server.Config{RequestTimeout: 2 * time.Minute, DrainTimeout: 2 * time.Minute, PublicBodyLimit: 256 << 10,
		InternalBodyLimit: 1 << 20}
	srv, err := server.New(cfg, server.Runtime{Open: true, Name: "booking", Clock: w.clock, Telemetry: tel,
		Public: public, Internal: internal})
	if err != nil {
		t.Fatal(err)
	}
	gate := limits.New(of, w.limiter, w.limiter, tel)
	links, err := (&link.Config{Secrets: []string{"0f9e8d7c6b5a49382716f5e4d3c2b1a0"}, PagesURL: pagesURL}).Open()
	if err != nil {
		t.Fatal(err)
	}
	w.booker = usecase.NewBooker(usecase.Dependencies{
		Offers: w, Availability: w, Pricing: w, Bookings: w.store,
		Links: links, Clock: w.clock, RequestTimeout: lockTimeout, Telemetry: tel,
	})
	// Requests of 64 clients at once are slow, because each waits for the statements of the others.
	w.booker.RefuseTimeout, w.booker.AbandonTimeout = testkit.MaxWait, testkit.MaxWait
	providers := payment.Providers{stripe.Name: stripe.New("", webhookSecret, "", nil)}
	api.MountWebhooks(srv.Public, providers, usecase.NewPayments(w.store, usecase.PaymentOptions{}, w.clock, tel))
	book := api.NewPublic(keys{Store: w.store, fixture: w}, w, w.booker, gate, links, w.clock, tel)
	srv.LimitBy(book.Limit)
	book.Mount(srv.Public)
	owner, cancellations := usecase.NewOwner(w.store, w, links, w.clock), usecase.NewCancellations(w.store, providers,
		w.clock)
	api.NewInternal(owner, w.booker, cancellations, w.store, links, w.clock).Mount(srv.Internal)
	api.NewDecisions(usecase.NewDecisions(w.store, w, w, cancellations, owner), links).Mount(srv.Internal)
	customerLinks := usecase.NewCustomerLinks(w.store, w, w.booker, cancellations, w.clock)
	views := api.NewCustomerLinks(customerLinks, links)
	views.Mount(srv.Internal)
	api.NewCustomerSessions(usecase.NewCustomerSessions(w.store, w, customerLinks, links), views).Mount(srv.Internal)
	api.NewReservationPayments(usecase.NewReservationPayments(w.store, w.booker)).Mount(srv.Internal)
	feeds := usecase.NewFeeds(w.store, w, w, w.clock, tel)
	feeds.ComputeTimeout = testkit.MaxWait
	api.NewFeeds(feeds, w.store, links).Mount(srv.Internal)
	eventapi.Serve(srv, bookingclient.Events,
		eventlog.New(w.pool, api.ShowEvents(w.store, links), eventlog.Config{KeepDays: 90}, w.clock, tel))
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- srv.Run(ctx) }()
	t.Cleanup(func() {
		w.http.CloseIdleConnections()
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return "http://" + public.Addr().String(), "http://" + internal.Addr().String()
}

// keys looks up API keys in the store, or returns the error `keysErr` of the fixture.
type keys struct {
	*store.Store
	fixture *fixture
}

func (k keys) KeyByHash(ctx context.Context, hash [sha256.Size]byte) (store.Key, error) {
	k.fixture.mu.Lock()
	err := k.fixture.keysErr
	k.fixture.mu.Unlock()
	if err != nil {
		return store.Key{}, err
	}
	return k.Store.KeyByHash(ctx, hash)
}

func (k keys) IsCurrent(ctx context.Context, by store.Basis) (bool, error) {
	k.fixture.mu.Lock()
	err := k.fixture.keysErr
	k.fixture.mu.Unlock()
	if err != nil {
		return false, err
	}
	return k.Store.IsCurrent(ctx, by)
}

func listen(t testing.TB) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// noLimits has no rate limits.
var noLimits = limits.Config{}

// set changes the answers of the fakes.
func (w *fixture) set(change func(*fixture)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	change(w)
}

// change replaces the offer with a new version.
func (w *fixture) change(edit func(*catalog.Snapshot)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	next := *w.offer
	next.Version++
	next.Services = append([]catalog.Service(nil), w.offer.Services...)
	edit(&next)
	if err := next.Prepare(); err != nil {
		w.t.Error(err)
	}
	w.offer = &next
}

func (w *fixture) Fresh(_ context.Context, slug string) (*catalog.Snapshot, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.freshCalls++
	if w.catalogErr != nil {
		return nil, w.catalogErr
	}
	if w.offer == nil || slug != w.offer.Slug {
		return nil, fault.New(fault.BusinessNotFound, "Business not found")
	}
	return w.offer, nil
}

// Trusted returns the offer in `remembered` if there is one, otherwise the newest.
func (w *fixture) Trusted(ctx context.Context, slug string) (*catalog.Snapshot, error) {
	w.mu.Lock()
	remembered := w.staleOffer
	w.mu.Unlock()
	if remembered != nil && remembered.Slug == slug {
		return remembered, nil
	}
	return w.Fresh(ctx, slug)
}

// Snapshot returns the offer of the business with this id.
func (w *fixture) Offer(ctx context.Context, id uuid.UUID) (*catalog.Snapshot, error) {
	offer, err := w.Fresh(ctx, "harbor")
	if err == nil && offer.ID != id {
		err = fault.New(fault.BusinessNotFound, "Business not found")
	}
	return offer, err
}

// Bookable offers each free member or capacity unit in order, by the occupied time in the request. For a class it
// offers the sessions with free seats at this start.
func (w *fixture) Bookable(ctx context.Context,
	r availability.BookableRequest) (*availability.BookableResponse, error) {
	w.mu.Lock()
	w.bookableCalls++
	w.lastQuestion = r.Question
	release, waiting, meetingPoint := w.release, w.waiting, w.meetingPoint
	if w.mustWait != nil && !w.mustWait(r.Question) {
		release = nil
	}
	w.mu.Unlock()
	if meetingPoint != nil {
		if err := meetOther(ctx, meetingPoint.availability, meetingPoint.pricing); err != nil {
			return nil, err
		}
	}
	if release != nil && waiting != nil {
		waiting <- struct{}{}
	}
	if release != nil {
		select {
		case <-release:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	w.mu.Lock()
	offer, hasSlots, refusal, warnings, err := w.offer, w.hasSlots, w.refusal, w.warnings, w.slotsErr
	performers := w.performers
	if w.staleOffer != nil && r.OfferVersion == w.staleOffer.Version { // availability has the old version, too
		offer, hasSlots = w.staleOffer, true
	}
	w.mu.Unlock()
	if err != nil {
		return nil, err
	}
	answer := &availability.BookableResponse{OfferVersion: offer.Version, Warnings: warnings}
	if !hasSlots {
		answer.Refusal = refusal
		return answer, nil
	}
	services, err := offer.Appointment(r.Question.ServiceIDs, r.Question.Variants)
	if err != nil {
		return nil, err
	}
	start, service := timespan.Instant(r.Question.Date, r.Question.Time, offer.Location()), services[0]
	span := timespan.Span{Start: start, End: start}
	for _, s := range services {
		span.End += int64(s.DurationMinutes) * 60
	}
	if service.IsClass() {
		answer.Assignments = listSessions(service, r, span)
		return answer, nil
	}
	occupies := timespan.Span{Start: span.Start, End: span.End + int64(service.BufferAfterMinutes)*60}
	for _, resource := range listResources(service) {
		if r.Question.StaffID != nil && *r.Question.StaffID != resource.ID || isOccupied(r.Occupied, resource,
			occupies) {
			continue
		}
		assignment := availability.Assignment{During: span, Performers: performers,
			Parts: []availability.Part{{Resource: resource, Occupies: occupies}}}
		if resource.CapacityUnit == 0 {
			assignment.StaffID = &resource.ID
		}
		if len(offer.Locations) > 0 {
			if assignment.LocationID = findFreeLocation(offer, services, r, resource, span); assignment.LocationID == nil {
				continue
			}
		}
		answer.Assignments = append(answer.Assignments, assignment)
	}
	return answer, nil
}

func listResources(s *catalog.Service) []booking.Resource {
	var all []booking.Resource
	for _, id := range s.StaffIDs {
		all = append(all, booking.Resource{ID: id})
	}
	for unit := 1; len(s.StaffIDs) == 0 && unit <= s.Capacity; unit++ {
		all = append(all, booking.Resource{ID: s.ID, CapacityUnit: unit})
	}
	return all
}

func isOccupied(o booking.Occupied, r booking.Resource, span timespan.Span) bool {
	for _, busy := range o.Busy {
		for _, s := range busy.Spans() {
			if busy.Resource == r && s.Overlaps(span) {
				return true
			}
		}
	}
	return false
}

// quoteOfTier returns the price of a tier, with a discount of one tenth for four tickets or more.
func (w *fixture) quoteOfTier(item pricing.Item) pricing.Quote {
	event := w.offer.Event(item.ID)
	tier := event.Tiers[slices.IndexFunc(event.Tiers, func(t catalog.Tier) bool { return t.ID == *item.TierID })]
	price := tier.Price
	if *item.PartySize >= 4 {
		price -= tier.Price / 10
	}
	quote := pricing.Quote{Priced: tier.Price > 0, List: tier.Price, Price: price}
	if price != tier.Price {
		quote.Steps = []pricing.Step{{Rule: "group", Kind: string(rule.PartySize), Before: "more", After: "less"}}
	}
	return quote
}

func (w *fixture) Quotes(ctx context.Context, r pricing.QuotesRequest) (*pricing.QuotesResponse, error) {
	w.mu.Lock()
	meetingPoint := w.meetingPoint
	w.mu.Unlock()
	if meetingPoint != nil {
		if err := meetOther(ctx, meetingPoint.pricing, meetingPoint.availability); err != nil {
			return nil, err
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.quotes = append(w.quotes, r)
	if w.pricesErr != nil {
		return nil, w.pricesErr
	}
	offer := w.offer
	if w.staleOffer != nil && r.OfferVersion == w.staleOffer.Version {
		offer = w.staleOffer
	}
	answer := &pricing.QuotesResponse{OfferVersion: offer.Version, Currency: offer.Currency}
	for _, item := range r.Items {
		if item.Kind == pricing.KindEvent {
			answer.Quotes = append(answer.Quotes, w.quoteOfTier(item))
			continue
		}
		variants := map[uuid.UUID]uuid.UUID{}
		if item.VariantID != nil {
			variants[item.ID] = *item.VariantID
		}
		services, err := offer.Appointment([]uuid.UUID{item.ID}, variants)
		if err != nil {
			return nil, err
		}
		list := services[0].Price
		price := list
		if *item.FirstBooking {
			price -= list / 10
		}
		answer.Quotes = append(answer.Quotes, pricing.Quote{Priced: list > 0, List: list, Price: price})
	}
	if r.Together && len(r.Items) == 2 && len(offer.Packages) > 0 { // the first service gets 2/3 of the price
		whole := *offer.Packages[0].Price
		answer.Package = &pricing.Package{ID: offer.Packages[0].ID}
		answer.Quotes[0].Price, answer.Quotes[1].Price = whole/3*2, whole-whole/3*2
	}
	return answer, nil
}

// key creates an API key of the business with this scope.
func (w *fixture) key(scope string) string {
	return w.keyOf(w.offer.ID, scope, nil)
}

func (w *fixture) keyOf(business uuid.UUID, scope string, expires *time.Time) string {
	w.t.Helper()
	secret, err := apikey.Generate(rand.Reader)
	if err != nil {
		w.t.Fatal(err)
	}
	key := store.Key{
		BusinessID: business, ID: uuid.New(), Name: "test", Scope: scope, Prefix: apikey.Display(secret),
		CreatedAt: now, ExpiresAt: expires,
	}
	if err := w.store.CreateKey(testkit.AsSystem(w.t), key, apikey.Hash(secret)); err != nil {
		w.t.Fatal(err)
	}
	return secret
}

// newOrder returns the body of a booking at the time `at` with the members in `changes` replaced. A nil value removes
// the member.
func newOrder(at string, changes map[string]any) map[string]any {
	body := map[string]any{
		"service_ids": []any{cutID}, "date": "2027-03-02", "time": at, "customer_name": "Zoë",
		"customer_email": "zoe@example.com",
	}
	for name, value := range changes {
		if body[name] = value; value == nil {
			delete(body, name)
		}
	}
	return body
}

// answer is the response to a request.
type answer struct {
	status int
	header http.Header
	text   string
	body   struct {
		Error       string
		MessageCode string
		Success     bool
		Booking     struct {
			ID        uuid.UUID
			Date      string
			StartTime string `json:"start_time"`
			EndTime   string `json:"end_time"`
			Status    string
			Source    string
			Total     json.Number
			Currency  string
			PartySize int        `json:"party_size"`
			StaffID   *uuid.UUID `json:"staff_id"`
			StaffName *string    `json:"staff_name"`
			SessionID *uuid.UUID `json:"class_schedule_id"`
			Services  []struct {
				Name            string
				VariantName     string `json:"variant_name"`
				DurationMinutes int    `json:"duration_minutes"`
				Price           json.Number
			}
		}
		PaymentRequired *bool
		ManageURL       string `json:"manage_url"`
	}
}

// book sends a booking request; a `body` that is a string is sent unchanged, any other as JSON. The argument `headers`
// has pairs of name and value.
func (w *fixture) book(key string, body any, headers ...string) answer {
	w.t.Helper()
	return w.bookAt("harbor", key, body, headers...)
}

func (w *fixture) bookAt(slug, key string, body any, headers ...string) answer {
	w.t.Helper()
	return w.bookOn(w.public, slug, key, body, headers...)
}

// bookOn sends a booking request to the replica at the base URL `public`.
func (w *fixture) bookOn(public, slug, key string, body any, headers ...string) answer {
	w.t.Helper()
	raw, isText := body.(string)
	if !isText {
		b, err := json.Marshal(body)
		if err != nil {
			w.t.Error(err)
		}
		raw = string(b)
	}
	header := http.Header{"Content-Type": {"application/json"}}
	if key != "" {
		header.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i < len(headers); i += 2 {
		header.Set(headers[i], headers[i+1])
	}
	return w.send(http.MethodPost, public+"/api/public/"+slug+"/book", raw, header)
}

func (w *fixture) send(method, url, body string, header http.Header) answer {
	w.t.Helper()
	request, err := http.NewRequestWithContext(context.Background(), method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		w.t.Error(err)
		return answer{}
	}
	request.Header = header
	response, err := w.http.Do(request)
	if err != nil {
		w.t.Error(err)
		return answer{}
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		w.t.Error(err)
	}
	a := answer{status: response.StatusCode, header: response.Header, text: string(text)}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &a.body); err != nil {
			w.t.Errorf("%s: %v", text, err)
		}
	}
	return a
}

func (w *fixture) count(sql string) int { return w.countOf(sql) }

func (w *fixture) countOf(sql string, args ...any) int {
	w.t.Helper()
	var n int
	if err := w.pool.QueryRow(w.t.Context(), sql, args...).Scan(&n); err != nil {
		w.t.Fatal(err)
	}
	return n
}

// expectRows fails the test unless there are `want` bookings and as many occupied times.
func (w *fixture) expectRows(want int) {
	w.t.Helper()
	bookings, occupied := w.count(`SELECT count(*) FROM bookings`), w.count(`SELECT count(*) FROM occupied_time`)
	if bookings != want || occupied != want {
		w.t.Errorf("%d bookings and %d occupied times are there, want %d", bookings, occupied, want)
	}
}

// expect fails the test unless the answer has this status and message code.
func (w *fixture) expect(name string, a answer, status int, code string) {
	w.t.Helper()
	if a.status != status || a.body.MessageCode != code || code != "" && a.body.Error == "" {
		w.t.Errorf("%s: got %d %s (%s), want %d %s", name, a.status, a.body.MessageCode, a.body.Error, status, code)
	}
}
