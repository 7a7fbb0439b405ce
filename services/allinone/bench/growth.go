package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Size is how much there is: businesses, each like the salons of the other cases, and bookings of all of them together.
type Size struct{ Businesses, Bookings int }

// Bounds of a [Size]: what is made goes into one database on this machine.
const (
	mostBusinesses = 100_000
	mostBookings   = 10_000_000
)

// ParseSizes reads "10:10000,1000:1000000": businesses and bookings of each step, growing.
func ParseSizes(text string) ([]Size, error) {
	var sizes []Size
	last := Size{}
	for part := range strings.SplitSeq(text, ",") {
		var s Size
		if n, err := fmt.Sscanf(part, "%d:%d", &s.Businesses, &s.Bookings); n != 2 || err != nil {
			return nil, fmt.Errorf("%q is not a size; write businesses and bookings such as 10:10000", part)
		}
		if s.Businesses < 1 || s.Businesses > mostBusinesses || s.Bookings < 1 || s.Bookings > mostBookings {
			return nil, fmt.Errorf("%q is out of bounds; there are up to %d businesses and %d bookings", part, mostBusinesses, mostBookings)
		}
		if s.Businesses < last.Businesses || s.Bookings < last.Bookings {
			return nil, fmt.Errorf("%q is smaller than the size before it; let sizes grow", part)
		}
		sizes, last = append(sizes, s), s
	}
	return sizes, nil
}

// Grown is what was measured at a size.
type Grown struct {
	Size
	Row
}

// grow measures the same requests at each size, spread over all businesses.
func (w *world) grow(ctx context.Context, sizes []Size) ([]Grown, error) {
	var all []Grown
	have := Size{}
	for _, size := range sizes {
		_, _ = fmt.Fprintf(w.o.Progress, "growing to %d businesses and %d bookings\n", size.Businesses, size.Bookings)
		if err := w.makeMore(ctx, have, size); err != nil {
			return nil, fmt.Errorf("grow to %d businesses and %d bookings: %w", size.Businesses, size.Bookings, err)
		}
		have = size
		for _, c := range w.grownCases(size) {
			_, _ = fmt.Fprintf(w.o.Progress, "measuring %s\n", c.name)
			row, err := w.measure(ctx, c)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			all = append(all, Grown{Size: size, Row: row})
		}
	}
	return all, nil
}

// makeMore copies the reader's offer under other slugs and ids, and gives the businesses bookings in turn: by business,
// then member, then half hour, so that each of a member's lies after the one before.
func (w *world) makeMore(ctx context.Context, have, want Size) error {
	if _, err := w.pool.Exec(ctx, `
		WITH made AS (
			SELECT 'grown-' || i AS slug, md5('grown-' || i)::uuid AS id FROM generate_series($1::bigint, $2::bigint - 1) AS i
		), template AS (
			SELECT v.* FROM catalog.versions v WHERE v.business_id = $3
		), business AS (
			INSERT INTO catalog.businesses (id, slug, last_version, head) SELECT id, slug, 1, 1 FROM made
		)
		INSERT INTO catalog.versions (business_id, version, name, format, source, canonical, published_at)
		SELECT made.id, 1, t.name, t.format, t.source,
		       replace(replace(t.canonical::text, $3::uuid::text, made.id::text), '"reader"', to_json(made.slug)::text)::json, t.published_at
		FROM made, template t`, have.Businesses, want.Businesses, w.reader.id); err != nil {
		return err
	}
	const piece = 100_000 // in each statement, so that none runs for long
	for from := have.Bookings; from < want.Bookings; from += piece {
		if err := w.makeBookings(ctx, from, min(from+piece, want.Bookings), want.Businesses); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(w.o.Progress, "%d bookings\n", min(from+piece, want.Bookings))
	}
	_, err := w.pool.Exec(ctx, "ANALYZE")
	return err
}

// lastGrown is the day after tomorrow that bookings are made for first.
const lastGrown = 150

// makeBookings makes the bookings from one number to another, from the last day backwards, into the years before where
// there are many, as an old business has them. Where a business had the time taken at a smaller size it stays as it is.
func (w *world) makeBookings(ctx context.Context, from, to, businesses int) error {
	_, err := w.pool.Exec(ctx, `
		WITH made AS (
			SELECT gen_random_uuid() AS id, md5('grown-' || i % $3)::uuid AS business,
			       ($4::uuid[])[1 + (i / $3) % cardinality($4::uuid[])] AS member,
			       $5::timestamptz + make_interval(days => $6::integer - (n / 12)::integer, mins => (540 + 30 * (n % 12))::integer) AS at
			FROM generate_series($1::bigint, $2::bigint - 1) AS i, LATERAL (SELECT i / ($3::bigint * cardinality($4::uuid[])) AS n) AS turn
		), booked AS (
			INSERT INTO booking.bookings (business_id, id, status, starts_at, ends_at, local_start, local_end, services, party_size,
				total, currency, first_booking, source, customer_name, customer_email, form_data, offer_version, created_at, updated_at)
			SELECT business, id, 'confirmed', at, at + interval '30 minutes', at, at + interval '30 minutes', '[{}]', 1,
				0, 'EUR', false, 'bench', 'C', 'c@example.com', '{}', 1, now(), now()
			FROM made
		)
		INSERT INTO booking.occupied_time (business_id, booking_id, part, resource_id, lane, during)
		SELECT business, id, 1, member, 0, tstzrange(at, at + interval '30 minutes') FROM made
		ON CONFLICT DO NOTHING`, from, to, int64(businesses), w.reader.staff, tomorrow, lastGrown)
	return err
}

// workingSet bounds the businesses that are asked: what grows is what lies beside them, in the tables.
const workingSet = 1000

// grownCases ask businesses in turn, spread over all there are, after each was asked once.
func (w *world) grownCases(size Size) []aCase {
	asked := min(size.Businesses, workingSet)
	ask := func(name, service, path string) aCase {
		c := aCase{name: name, allowed: []int{http.StatusOK}, shot: func(n int64) (int, error) {
			slug := fmt.Sprintf("grown-%d", int(n)%asked*(size.Businesses/asked))
			return w.http.send(call{Method: http.MethodGet, URL: w.at.Services[service] + "/api/public/" + slug + path, Headers: client(n)}, nil)
		}}
		c.check = func() error { return w.askOnce(c, asked) }
		return c
	}
	slots := ask("GET /slots", "availability", "/slots?date="+tomorrow.AddDate(0, 0, lastGrown).Format(time.DateOnly)+
		"&service_id="+w.reader.services[0].String())
	warm := slots.check
	slots.check = func() error { return errors.Join(w.rightGrownSlots(), warm()) }
	return []aCase{ask("GET /services", "catalog", "/services"), slots}
}

// askOnce asks each of so many businesses once.
func (w *world) askOnce(c aCase, asked int) error {
	for range asked {
		status, err := c.shot(w.number.Add(1))
		if err != nil {
			return err
		}
		if status != http.StatusOK {
			return fmt.Errorf("the answer is %d", status)
		}
	}
	return nil
}

// rightGrownSlots compares the slots of the first business with what the database says is taken of that day.
func (w *world) rightGrownSlots() error {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var taken int
	day := tomorrow.AddDate(0, 0, lastGrown)
	err := w.pool.QueryRow(ctx, `SELECT count(*) FROM booking.occupied_time
		WHERE business_id = md5('grown-0')::uuid AND during && tstzrange($1, $2)`, day, day.AddDate(0, 0, 1)).Scan(&taken)
	if err != nil {
		return err
	}
	var list struct{ Slots []json.RawMessage }
	url := w.at.Services["availability"] + "/api/public/grown-0/slots?date=" + day.Format(time.DateOnly) + "&service_id=" + w.reader.services[0].String()
	if err := w.answer("grown", url, &list); err != nil {
		return err
	}
	if want := salonStaff*startsADay - taken; taken == 0 || len(list.Slots) != want {
		return fmt.Errorf("%d slots with %d bookings on that day, want %d", len(list.Slots), taken, want)
	}
	return nil
}

// printGrowth writes the table of growth.
func printGrowth(out io.Writer, grown []Grown) {
	if len(grown) == 0 {
		return
	}
	_, _ = fmt.Fprint(out, "\ngrowth\tbusinesses\tbookings\trequests/s\tp50 ms\tp99 ms\tserver µs\tPostgres µs\tresident MB\t\n")
	for _, g := range grown {
		_, _ = fmt.Fprintf(out, "%s\t%d\t%d\t%.0f\t%s\t%s\t%s\t%s\t%d\t\n", g.Name, g.Businesses, g.Bookings, g.PerSecond,
			milliseconds(g.P50), milliseconds(g.P99), microseconds(g.server()), microseconds(g.CPU.Postgres), g.Resident>>20)
	}
}
