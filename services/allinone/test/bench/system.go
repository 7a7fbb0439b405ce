package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/values/apikey"
)

// system is the measured system: Slotmesh and the bare program ([bareServer]) as child processes. The database of both
// contains the data of Options.Seeds.
type system struct {
	o             Options
	http          *httpClient
	pool          *pgxpool.Pool
	minimalPool   *pgxpool.Pool // for the minimum work of a booking; nil before its first use
	slotmesh      *child
	bare          *child
	addresses     Addresses
	bareAddresses BareAddresses
	meter         *meter

	readSalon      salon   // business whose lists, slots and calendars are read
	contestedSalon salon   // business in which all bookings are for one staff member
	salons         []salon // businesses in which the bookings are spread over all staff members
	requestNumber  atomic.Int64
}

// salon is a business that the run has created. The salon's IDs are derived from its slug, so that the run can compute
// them.
type salon struct {
	slug     string
	id       uuid.UUID
	services []uuid.UUID
	staff    []uuid.UUID
	rental   uuid.UUID
	keys     []string
	keyIDs   []uuid.UUID // in the same order as keys
}

const (
	salonServices            = 20
	salonStaff               = 10
	advanceDays              = 200
	openingHour, closingHour = 8, 20 // hours of the day
	startsPerDay             = (closingHour - openingHour) * 2
	window                   = 62 // number of days in a calendar
)

// tomorrow is the first date that the requests name. The clock of the services begins on the day before.
var tomorrow = time.Date(2027, time.March, 2, 0, 0, 0, 0, time.UTC)

func newSystem(ctx context.Context, o Options) (*system, error) {
	w := &system{o: o, http: newHTTPClient()}
	if err := w.start(ctx); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

func (w *system) start(ctx context.Context) error {
	stores := []string{"DATABASE_URL=" + w.o.DatabaseURL, "REDIS_URL=" + w.o.RedisURL}
	settings, err := json.Marshal(w.o.Settings)
	if err != nil {
		return err
	}
	if w.slotmesh, err = startChild(ctx, "slotmesh", append(stores, settingsVariable+"="+string(settings)),
		&w.addresses); err != nil {
		return err
	}
	if w.bare, err = startChild(ctx, "bare", stores, &w.bareAddresses); err != nil {
		return err
	}
	if w.meter, err = newMeter(ctx, w.o, w.slotmesh.pid(), w.bare.pid()); err != nil {
		return err
	}
	cfg, err := pgxpool.ParseConfig(w.o.DatabaseURL)
	if err != nil {
		return err
	}
	cfg.ConnConfig.RuntimeParams["application_name"] = ownSessions
	w.pool, err = pgxpool.NewWithConfig(ctx, cfg)
	return err
}

func (w *system) close() {
	for _, c := range []*child{w.slotmesh, w.bare} {
		if c != nil {
			c.stop()
		}
	}
	for _, pool := range []*pgxpool.Pool{w.pool, w.minimalPool} {
		if pool != nil {
			pool.Close()
		}
	}
}

func (w *system) seed(ctx context.Context) error {
	_, _ = fmt.Fprintln(w.o.Progress, "making businesses, keys and bookings")
	var err error
	if w.readSalon, err = w.createSalon(ctx, "reader", 10*w.o.Seeds.Keys); err != nil {
		return err
	}
	if w.contestedSalon, err = w.createSalon(ctx, "hot", 10*w.o.Seeds.Keys); err != nil {
		return err
	}
	for i := range w.o.Seeds.Salons {
		s, err := w.createSalon(ctx, fmt.Sprintf("salon-%d", i), w.o.Seeds.Keys)
		if err != nil {
			return err
		}
		w.salons = append(w.salons, s)
	}
	if err := w.seedBookings(ctx, w.readSalon, w.o.Seeds.Bookings); err != nil {
		return err
	}
	if err := w.seedReservations(ctx, w.readSalon); err != nil {
		return err
	}
	_, err = w.pool.Exec(ctx, "ANALYZE")
	return err
}

// newSalon returns the salon with the given slug and the IDs that are derived from the slug. newSalon does not publish
// the salon.
func newSalon(slug string) salon {
	s := salon{slug: slug, id: uuid.NewSHA1(uuid.NameSpaceURL, []byte(slug))}
	s.rental = uuid.NewSHA1(s.id, []byte("bike"))
	for i := range salonStaff {
		s.staff = append(s.staff, uuid.NewSHA1(s.id, []byte(memberKey(i))))
	}
	for i := range salonServices {
		s.services = append(s.services, uuid.NewSHA1(s.id, []byte(serviceKey(i))))
	}
	return s
}

func memberKey(i int) string  { return fmt.Sprintf("member-%d", i) }
func serviceKey(i int) string { return fmt.Sprintf("service-%d", i) }

func (s salon) displayName() string { return "Salon " + s.slug }

// createSalon publishes a new salon with the given slug and creates its API keys.
func (w *system) createSalon(ctx context.Context, slug string, keys int) (salon, error) {
	return w.publishSalon(ctx, newSalon(slug), keys)
}

// publishSalon publishes the salon `s` and creates API keys for it. The argument `keys` is the number of the keys.
func (w *system) publishSalon(ctx context.Context, s salon, keys int) (salon, error) {
	if err := w.putManifest(s.slug, s.buildManifest(), http.StatusCreated); err != nil {
		return s, err
	}
	return s, w.makeKeys(ctx, &s, keys)
}

// buildManifest returns the salon's manifest. In this manifest, every staff member offers every service, and each
// service takes half an hour.
func (s salon) buildManifest() map[string]any {
	var staff, services []map[string]any
	var everyone []string
	for i, id := range s.staff {
		everyone = append(everyone, memberKey(i))
		staff = append(staff, map[string]any{"key": memberKey(i), "id": id, "name": fmt.Sprintf("Member %d", i),
			"order": i})
	}
	for i, id := range s.services {
		services = append(services, map[string]any{
			"key": serviceKey(i), "id": id, "name": fmt.Sprintf("Service %d", i), "price": 20 + i,
			"duration_minutes": 30, "staff": everyone,
			"description_html": "<p>Half an hour of <b>care</b>, with tea.</p>",
			"translations": map[string]any{"pt": map[string]any{"name": fmt.Sprintf("Serviço %d", i),
				"description_html": "<p>Meia hora.</p>"}},
		})
	}
	hours := map[string][]string{}
	for _, day := range []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"} {
		hours[day] = []string{fmt.Sprintf("%02d:00-%02d:00", openingHour, closingHour)}
	}
	return map[string]any{
		"apiVersion": "slotmesh/v1", "kind": "Business", "slug": s.slug, "id": s.id, "name": s.displayName(),
		"currency": "EUR",
		"timezone": "Europe/Lisbon", "default_language": "en", "languages": []string{"en", "pt"}, "hours": hours,
		"bookings": map[string]any{"slot_interval_minutes": 30, "advance_days": advanceDays}, "staff": staff,
		"services": services,
		"rentals": []map[string]any{{"key": "bike", "id": s.rental, "name": "Bike", "price": 15,
			"price_type": "daily", "quantity": 5, "units_count": 5}},
		"pricing_rules": []map[string]any{{"key": "tuesdays", "kind": "day_of_week", "days": []string{"tue"},
			"percent": -10}},
	}
}

func (w *system) makeKeys(ctx context.Context, s *salon, n int) error {
	var hashes [][]byte
	var values []string
	for range n {
		key, err := apikey.Generate(randomReader{})
		if err != nil {
			return err
		}
		hash := apikey.Hash(key)
		s.keys, s.keyIDs = append(s.keys, key), append(s.keyIDs, uuid.New())
		hashes, values = append(hashes, hash[:]), append(values, apikey.Display(key))
	}
	_, err := w.pool.Exec(ctx, `INSERT INTO booking.api_keys (business_id, id, name, scope, hash, prefix, created_at)
		SELECT $1, k.id, 'bench', 'all', k.hash, k.prefix, now() FROM unnest($2::bytea[], $3::text[], $4::uuid[]) AS k (hash, prefix, id)`,
		s.id, hashes, values, s.keyIDs)
	return err
}

// seedBookings writes `n` bookings of half an hour before the measurement. seedBookings spreads the bookings first over
// the days of a calendar, then over the staff members, and then over every second hour.
func (w *system) seedBookings(ctx context.Context, s salon, n int) error {
	_, err := w.pool.Exec(ctx, `
		WITH made AS (
			SELECT gen_random_uuid() AS id, $2::uuid[] AS staff, i,
			       $3::timestamptz + make_interval(days => i % $5, hours => 9 + 2 * (i / ($5 * cardinality($2::uuid[])))) AS at
			FROM generate_series(0, $4 - 1) AS i
		), booked AS (
			INSERT INTO booking.bookings (business_id, id, status, starts_at, ends_at, local_start, local_end, services, party_size,
				total, currency, first_booking, source, customer_name, customer_email, form_data, locale, offer_version, created_at, updated_at)
			SELECT $1, id, 'confirmed', at, at + interval '30 minutes', at, at + interval '30 minutes', '[{}]', 1,
				0, 'EUR', false, 'bench', 'C', 'c@example.com', '{}', 'en', 1, now(), now()
			FROM made
		)
		INSERT INTO booking.occupied_time (business_id, booking_id, part, resource_id, lane, during, holder)
		SELECT $1, id, 1, staff[1 + (i / $5) % cardinality(staff)], 0, tstzrange(at, at + interval '30 minutes'), id FROM made`,
		s.id, s.staff, tomorrow, n, window)
	if err != nil {
		return fmt.Errorf("make bookings: %w", err)
	}
	return nil
}

// seedReservations reserves four of the five bikes for all days of a calendar, with reservations of three days each.
func (w *system) seedReservations(ctx context.Context, s salon) error {
	var batch pgx.Batch
	batch.Queue(`INSERT INTO rental.rentals (business_id, rental_id) VALUES ($1, $2) ON CONFLICT DO NOTHING`, s.id,
		s.rental)
	batch.Queue(`INSERT INTO rental.reservations (business_id, id, rental_id, rental_name, status, quantity, start_date, end_date,
			customer_name, locale, offer_version, created_at, updated_at)
		SELECT $1, gen_random_uuid(), $2, 'Bike', 'reserved', 1, $3::date + 3 * day, $3::date + 3 * day + 2, 'C', 'en', 1, now(), now()
		FROM generate_series(0, 29) AS day, generate_series(1, 4)`, s.id, s.rental, tomorrow)
	return w.pool.SendBatch(ctx, &batch).Close()
}

// newClientHeaders returns the headers of the n-th client. Each request of a run has a different client address,
// because rate limits count the requests of each address.
func newClientHeaders(n int64) []string {
	n += addressBase
	return []string{"X-Forwarded-For", "10." + strconv.FormatInt(n>>16&255, 10) + "." + strconv.FormatInt(n>>8&255,
		10) + "." + strconv.FormatInt(n&255, 10)}
}

// addressBase is the number of the first client address. It differs between runs, so that the rate limits do not count
// the requests of two runs together. With the same addresses, the requests of a run in the last minute would still
// count.
var addressBase = now().Unix() * 9973

// newBookCall returns the request that books a slot of a salon. The argument `i` is the number of the slot; slots are
// numbered by staff member, then by start, then by day. The argument `n` is the number of the request. The requests use
// the API keys in turn, so that no key reaches its limit of 100 bookings a minute.
func (w *system) newBookCall(s salon, i, n int64) call {
	body := fmt.Appendf(nil,
		`{"service_ids":[%q],"staff_id":%q,"date":%q,"time":"%02d:%02d","customer_name":"C","customer_email":"c%d@example.com"}`,
		s.services[0], s.staff[i%salonStaff],
		tomorrow.AddDate(0, 0, int(i/(salonStaff*startsPerDay))).Format(time.DateOnly),
		openingHour+i/salonStaff%startsPerDay/2, i/salonStaff%2*30, n)
	return call{
		Method: http.MethodPost, URL: w.addresses.Services["booking"] + "/api/public/" + s.slug + "/book", Body: body,
		Headers: append(newClientHeaders(n), "Content-Type", "application/json", "Authorization",
			"Bearer "+s.keys[int(n/2)%len(s.keys)]),
	}
}

// storeAnswer stores an answer under a name in the bare program ([bareServer]).
func (w *system) storeAnswer(name string, body []byte) error {
	status, err := w.http.send(call{Method: http.MethodPut, URL: w.bareAddresses.Public + "/bytes/" + name,
		Body: bytes.Clone(body)}, nil)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("the bare program answers %d", status)
	}
	return err
}
