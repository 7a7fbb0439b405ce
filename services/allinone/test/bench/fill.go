package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"
)

// makeFilledDatabase creates a database with test data of the given size. makeFilledDatabase returns the database's URL
// and a function that drops the database.
func (o Options) makeFilledDatabase(ctx context.Context, size Size) (string, func(), error) {
	database, drop, err := makeDatabase(ctx, o.DatabaseURL)
	if err != nil {
		return "", nil, err
	}
	if err := o.fill(ctx, database, size); err != nil {
		drop()
		return "", nil, err
	}
	return database, drop, nil
}

// fill writes test data of the given size. The services create their tables, and fill publishes one salon through the
// API. It writes copies of this salon, and all bookings, directly into the tables. Writing them through the API would
// take days.
func (o Options) fill(ctx context.Context, database string, size Size) error {
	_, _ = fmt.Fprintf(o.Progress, "making %d businesses and %d bookings\n", size.Businesses, size.Bookings)
	o.DatabaseURL = database
	w, err := newSystem(ctx, o)
	if err != nil {
		return err
	}
	defer w.close()
	template, err := w.createSalon(ctx, templateSlug, 0)
	if err != nil {
		return err
	}
	pool, err := bulkPool(ctx, database)
	if err != nil {
		return err
	}
	defer pool.Close()
	f := &filler{o: o, pool: pool, size: size}
	if err := f.writeBusinesses(ctx, template); err != nil {
		return fmt.Errorf("make businesses: %w", err)
	}
	if err := f.writeBookings(ctx); err != nil {
		return fmt.Errorf("make bookings: %w", err)
	}
	_, err = pool.Exec(ctx, "VACUUM ANALYZE")
	return err
}

// templateSlug is the slug of the salon from which the other salons are copied. The salon's name, slug and IDs occur in
// no other text of the salon's manifest. So [salon.newReplacer] can replace them in a copy of the manifest.
const templateSlug = "template"

// bulkPool opens a pool of connections that do not check foreign keys. This is safe, because the statements that use
// the pool also write the referenced rows. All other constraints are checked, including exclusion constraints.
func bulkPool(ctx context.Context, database string) (*pgxpool.Pool, error) {
	settings, err := pgxpool.ParseConfig(database)
	if err != nil {
		return nil, err
	}
	settings.MaxConns = int32(runtime.NumCPU()) // no overflow: no machine has that many processors
	settings.ConnConfig.RuntimeParams["session_replication_role"] = "replica"
	settings.ConnConfig.RuntimeParams["synchronous_commit"] = "off"
	return pgxpool.NewWithConfig(ctx, settings)
}

// filler writes the test data of one size.
type filler struct {
	o            Options
	pool         *pgxpool.Pool
	size         Size
	bookingCount atomic.Int64 // number of bookings written so far
}

func formatGrowthSlug(i int) string { return fmt.Sprintf("grown-%d", i) }

// rangeSize returns the number of businesses that one statement writes. The number is small enough that no statement
// runs long or needs much memory.
func (f *filler) rangeSize() int {
	const businesses, bookings = 500, 100_000
	return max(1, min(businesses, bookings*f.size.Businesses/f.size.Bookings))
}

// eachRange divides the businesses into ranges [from, to) and calls `write` for each range. The calls run concurrently,
// one on each connection of the pool.
func (f *filler) eachRange(ctx context.Context, write func(ctx context.Context, from, to int) error) error {
	group, working := errgroup.WithContext(ctx)
	group.SetLimit(int(f.pool.Config().MaxConns))
	for from, piece := 0, f.rangeSize(); from < f.size.Businesses && working.Err() == nil; from += piece {
		group.Go(func() error { return write(working, from, min(from+piece, f.size.Businesses)) })
	}
	return errors.Join(group.Wait(), ctx.Err())
}

// writeBusinesses writes copies of the template salon's offer, with the names and IDs of the other salons.
func (f *filler) writeBusinesses(ctx context.Context, template salon) error {
	var source, canonical, sanitized string
	var sanitizer int32
	err := f.pool.QueryRow(ctx,
		`SELECT convert_from(source, 'UTF8'), canonical::text, sanitizer, coalesce(sanitized::text, '')
		FROM catalog.versions WHERE business_id = $1`, template.id).Scan(&source, &canonical, &sanitizer, &sanitized)
	if err != nil {
		return err
	}
	return f.eachRange(ctx, func(ctx context.Context, from, to int) error {
		var heads, versions [][]any
		for i := from; i < to; i++ {
			s := newSalon(formatGrowthSlug(i))
			like := template.newReplacer(s)
			heads = append(heads, []any{s.id, s.slug, int64(1), int64(1), 1})
			versions = append(versions, []any{
				s.id, int64(1), s.displayName(), "json", []byte(like.Replace(source)),
				jsonOrNull(like.Replace(canonical)),
				sanitizer, jsonOrNull(like.Replace(sanitized)), now(),
			})
		}
		return pgx.BeginFunc(ctx, f.pool, func(tx pgx.Tx) error {
			if _, err := tx.CopyFrom(ctx, pgx.Identifier{"catalog", "businesses"},
				[]string{"id", "slug", "last_version", "head", "sequence"}, pgx.CopyFromRows(heads)); err != nil {
				return err
			}
			_, err := tx.CopyFrom(ctx, pgx.Identifier{"catalog", "versions"},
				[]string{"business_id", "version", "name", "format", "source", "canonical", "sanitizer", "sanitized",
					"published_at"}, pgx.CopyFromRows(versions))
			return err
		})
	})
}

// jsonOrNull returns the value of a JSON column: the document in `text`, or NULL if `text` is empty.
func jsonOrNull(text string) any {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

// newReplacer returns a replacer for the text of the salon's manifest. It replaces the salon's names and IDs with the
// names and IDs of the salon `other`.
func (s salon) newReplacer(other salon) *strings.Replacer {
	pairs := []string{`"` + s.slug + `"`, `"` + other.slug + `"`, `"` + s.displayName() + `"`,
		`"` + other.displayName() + `"`}
	ids, others := s.listIDs(), other.listIDs()
	for i := range ids {
		pairs = append(pairs, ids[i].String(), others[i].String())
	}
	return strings.NewReplacer(pairs...)
}

// listIDs returns all IDs in the salon's manifest. The order is the same for every salon.
func (s salon) listIDs() []uuid.UUID {
	return append(append([]uuid.UUID{s.id, s.rental}, s.staff...), s.services...)
}

// The times of the bookings that fill writes. Each staff member has bookingsPerDay bookings on each day, the first at
// firstBookedHour o'clock. The day is free from firstFreeHour o'clock on. lastBookedDay is the last day with bookings,
// as a number of days after tomorrow.
const (
	lastBookedDay   = 150
	bookingsPerDay  = 10
	firstBookedHour = 9
	firstFreeHour   = 15
)

// writeBookings writes the same number of bookings for each business. If the total cannot be divided evenly, the first
// businesses get one more booking. All rows of a business are written together, so that the database stores them
// together. Queries read the rows of one business.
func (f *filler) writeBookings(ctx context.Context) error {
	share, more := f.size.Bookings/f.size.Businesses, f.size.Bookings%f.size.Businesses
	return f.eachRange(ctx, func(ctx context.Context, from, to int) error {
		var ids, staff, services []uuid.UUID
		var counts []int
		total := 0
		for i := from; i < to; i++ {
			s, count := newSalon(formatGrowthSlug(i)), share
			if i < more {
				count++
			}
			ids, staff, counts, total = append(ids, s.id), append(staff, s.staff...), append(counts, count), total+count
			services = append(services, s.services[0])
		}
		last := tomorrow.AddDate(0, 0, lastBookedDay).Add(firstBookedHour * time.Hour)
		if _, err := f.pool.Exec(ctx, insertBookings, ids, staff, counts, salonStaff, bookingsPerDay, last,
			services); err != nil {
			return err
		}
		_, _ = fmt.Fprintf(f.o.Progress, "%d bookings\n", f.bookingCount.Add(int64(total)))
		return nil
	})
}

// insertBookings inserts bookings of half an hour for several businesses. Its SQL parameters are:
//
//   - $1: the IDs of the businesses
//   - $2: the IDs of all staff members
//   - $3: the number of bookings of each business
//   - $4: the number of staff members of each business
//   - $5: the number of bookings of a staff member per day
//   - $6: the start of the first booking on the last day
//   - $7: the booked service of each business
//
// The bookings go to the staff members in turn, without a break, from the last day backwards. With many bookings, they
// go back for years, as in an old business.
const insertBookings = `
	WITH business AS (
		SELECT id, service, number - 1 AS number, bookings
		FROM unnest($1::uuid[], $3::integer[], $7::uuid[]) WITH ORDINALITY AS b (id, bookings, service, number)
	), made AS (
		SELECT business.id AS business, gen_random_uuid() AS id, ($2::uuid[])[1 + number * $4::integer + member] AS staff, member, service, n,
		       $6::timestamptz + make_interval(days => -(n / $5::integer), mins => 30 * (n % $5::integer)) AS at
		FROM business, LATERAL (SELECT i % $4::integer AS member, i / $4::integer AS n FROM generate_series(0, bookings - 1) AS i) AS one
		ORDER BY number, member, n
	), booked AS (
		INSERT INTO booking.bookings (business_id, id, status, starts_at, ends_at, local_start, local_end, services, staff_id, staff_name,
			party_size, total, currency, timezone, first_booking, source, staff_requested, customer_name, customer_email, form_data, locale, offer_version, link_hash, created_at, updated_at)
		SELECT business, id, 'confirmed', at, at + interval '30 minutes', at AT TIME ZONE 'Europe/Lisbon', at AT TIME ZONE 'Europe/Lisbon' + interval '30 minutes',
			jsonb_build_array(jsonb_build_object('id', service, 'name', 'Service 0', 'duration_minutes', 30, 'price', 2000)), staff, 'Member ' || member,
			1, 2000, 'EUR', 'Europe/Lisbon', false, 'bench', true, 'C', 'c' || n % 100 || '@example.com', '{}', 'en', 1, sha256(uuid_send(id)), now(), now()
		FROM made
	)
	INSERT INTO booking.occupied_time (business_id, booking_id, part, resource_id, lane, during, holder)
	SELECT business, id, 1, staff, 0, tstzrange(at, at + interval '30 minutes'), id FROM made`
