package store_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/report"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// sampleSale is a booking that the reports count.
type sampleSale struct {
	status, source, currency string
	start                    time.Time // in the time zone of the business
	minutes, guests          int
	staff                    uuid.UUID
	class                    bool // a booking of a class, whose guests occupy the same time
	total, paid, refunded    int64
}

var lisbon = func() *time.Location {
	loc, err := time.LoadLocation("Europe/Lisbon")
	if err != nil {
		panic(err)
	}
	return loc
}()

// drawYear returns random bookings of three members in a period with two clock changes. The bookings of one member do
// not overlap, except several guests of one class.
func drawYear(r *rand.Rand) []sampleSale {
	var all []sampleSale
	for range 3 {
		staff, at := uuid.New(), time.Date(2026, 12, 20, 9, 0, 0, 0, time.UTC)
		for at.Year() < 2028 {
			b := sampleSale{
				start: at.In(lisbon), minutes: 15 * (1 + r.IntN(8)), staff: staff, guests: 1 + r.IntN(3),
				class:    r.IntN(5) == 0,
				status:   []string{"pending", "confirmed", "completed", "completed", "no_show", "cancelled"}[r.IntN(6)],
				source:   []string{"api", "page", "dashboard", "a partner's site"}[r.IntN(4)],
				currency: []string{"EUR", "EUR", "JPY"}[r.IntN(3)], total: int64(r.IntN(10_000)),
			}
			if r.IntN(3) == 0 && b.total > 0 {
				b.paid = b.total
				b.refunded = int64(r.IntN(2)) * int64(r.IntN(int(b.total)+1))
			}
			all = append(all, b)
			for b.class && r.IntN(2) == 0 {
				all = append(all, b)
			}
			at = at.Add(time.Duration(b.minutes+15*r.IntN(300)) * time.Minute)
		}
	}
	return all
}

// storeSales writes the bookings as the service stores them. The time of every second booking is in past_occupied_time.
func storeSales(t *testing.T, pool *pgxpool.Pool, business uuid.UUID, all []sampleSale) {
	t.Helper()
	exec := func(sql string, args ...any) {
		if _, err := pool.Exec(testkit.AsSystem(t), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	for i, b := range all {
		id, end, holder := uuid.New(), b.start.Add(time.Duration(b.minutes)*time.Minute), uuid.New()
		exec(`INSERT INTO bookings (business_id, id, status, starts_at, ends_at, local_start, local_end, services, staff_id, staff_name, party_size,
				total, currency, first_booking, source, customer_name, customer_email, form_data, locale, offer_version, created_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, '[{"name": "Haircut"}]', $8, 'Anna', $9, $10, $11, false, $12, 'Zoë', 'zoe@example.com', '{}', 'en', 1, $4, $4)`,
			business, id, b.status, b.start, end, parseWall(b.start), parseWall(end), b.staff, b.guests, b.total,
			b.currency,
			b.source)
		if b.paid > 0 {
			exec(`INSERT INTO payments (business_id, subject_kind, subject_id, status, provider, account, amount, currency, cancellation_policy, refunded, due_at,
				created_at, updated_at)
				VALUES ($1, 'booking', $2, 'paid', 'stripe', 'acct', $3, $4, '{}', $5, $6, $6, $6)`, business, id, b.paid, b.currency, b.refunded, b.start)
		}
		if b.class {
			holder = uuid.Nil
		}
		switch {
		case b.status == "cancelled":
		case i%2 == 0:
			exec(`INSERT INTO past_occupied_time VALUES ($1, $2, 1, $3, 0, tstzrange($4, $5), $6)`, business, id,
				b.staff, b.start, end, holder)
		default:
			exec(`INSERT INTO occupied_time VALUES ($1, $2, 1, $3, 0, tstzrange($4, $5), $6)`, business, id, b.staff,
				b.start, end, holder)
		}
	}
}

// parseWall returns the local date and time of `t` as a time in UTC.
func parseWall(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), 0, 0, time.UTC)
}

// inPeriod returns the start of the day, week or month in which a report counts the booking. It reports false if the
// booking is outside the dates of the report.
func inPeriod(q report.Query, b sampleSale) (timespan.Date, bool) {
	d := timespan.DateOf(b.start, lisbon)
	return q.By.Start(d), q.From <= d && d <= q.To
}

func countBookings(all []sampleSale, q report.Query) []booking.BookingsRow {
	rows := map[string]*booking.BookingsRow{}
	for _, b := range all {
		date, in := inPeriod(q, b)
		if !in {
			continue
		}
		key := date.String() + b.source
		if rows[key] == nil {
			rows[key] = &booking.BookingsRow{Date: date, Source: b.source}
		}
		row := rows[key]
		row.Bookings++
		*map[string]*int64{
			"pending": &row.Pending, "confirmed": &row.Confirmed, "completed": &row.Completed, "no_show": &row.NoShow,
			"cancelled": &row.Cancelled,
		}[b.status]++
		if b.status != "cancelled" {
			row.Guests += int64(b.guests)
		}
	}
	return sortRows(rows, func(a, b booking.BookingsRow) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.Source, b.Source))
	})
}

func sumRevenue(all []sampleSale, q report.Query) []store.RevenueRow {
	rows := map[string]*store.RevenueRow{}
	for _, b := range all {
		date, in := inPeriod(q, b)
		if !in {
			continue
		}
		key := date.String() + b.currency
		if rows[key] == nil {
			currency, _ := money.ParseCurrency(b.currency)
			rows[key] = &store.RevenueRow{Date: date, Kind: "booking", Currency: currency}
		}
		if b.status != "cancelled" {
			rows[key].Sold++
			rows[key].Total += b.total
		}
		rows[key].Paid += b.paid
		rows[key].Refunded += b.refunded
	}
	return sortRows(rows, func(a, b store.RevenueRow) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.Currency.Code, b.Currency.Code))
	})
}

// sumStaffTime computes the expected report of staff time minute by minute.
func sumStaffTime(all []sampleSale, q report.Query) []booking.StaffTimeRow {
	type minute struct {
		staff uuid.UUID
		at    int64
	}
	rows, counted := map[string]*booking.StaffTimeRow{}, map[minute]bool{}
	for _, b := range all {
		for i := range b.minutes {
			at := b.start.Add(time.Duration(i) * time.Minute)
			m := minute{b.staff, at.Unix()}
			d := timespan.DateOf(at, lisbon)
			if b.status == "cancelled" || counted[m] || d < q.From || d > q.To {
				continue
			}
			counted[m] = true
			key := q.By.Start(d).String() + b.staff.String()
			if rows[key] == nil {
				rows[key] = &booking.StaffTimeRow{Date: q.By.Start(d), StaffID: b.staff}
			}
			rows[key].Minutes++
		}
	}
	return sortRows(rows, func(a, b booking.StaffTimeRow) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), slices.Compare(a.StaffID[:], b.StaffID[:]))
	})
}

func sortRows[T any](rows map[string]*T, compare func(a, b T) int) []T {
	list := []T{}
	for _, row := range rows {
		list = append(list, *row)
	}
	slices.SortFunc(list, compare)
	return list
}

func TestReportsSumBusinessTime(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	seed := rand.Uint64()
	t.Log("seed", seed)
	business, all := uuid.New(), drawYear(rand.New(rand.NewPCG(seed, 1)))
	storeSales(t, pool, business, all)
	storeSales(t, pool, uuid.New(), all[:20]) // bookings of another business
	day := timespan.NewDate
	for _, q := range []report.Query{
		{From: day(2027, 1, 1), To: day(2027, 12, 31), By: report.Month},
		{From: day(2026, 12, 23), To: day(2027, 11, 3), By: report.Week},
		{From: day(2027, 3, 26), To: day(2027, 3, 30), By: report.Day},
		{From: day(2027, 10, 30), To: day(2027, 11, 1), By: report.Day},
		{From: day(2030, 1, 1), To: day(2030, 1, 2), By: report.Week},
	} {
		t.Run(fmt.Sprint(q), func(t *testing.T) {
			bookings, err := s.BookingsReport(testkit.AsSystem(t), business, q)
			if want := countBookings(all, q); err != nil || !slices.Equal(bookings, want) {
				t.Errorf("bookings: %v (-want +got):\n%s", err, diff.Diff(want, bookings))
			}
			revenue, err := s.RevenueReport(testkit.AsSystem(t), business, q)
			if want := sumRevenue(all, q); err != nil || !slices.Equal(revenue, want) {
				t.Errorf("revenue: %v (-want +got):\n%s", err, diff.Diff(want, revenue))
			}
			times, err := s.StaffTimeReport(testkit.AsSystem(t), business, q, "Europe/Lisbon")
			if want := sumStaffTime(all, q); err != nil || !slices.Equal(times, want) {
				t.Errorf("the time of staff: %v (-want +got):\n%s", err, diff.Diff(want, times))
			}
		})
	}
}

func TestRevenueReportCountsEventDay(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	business := uuid.New()
	for _, order := range []struct{ status, total string }{{"sold", "12000"}, {"sold", "6000"}, {"cancelled", "6000"}} {
		_, err := pool.Exec(testkit.AsSystem(t), `INSERT INTO tickets (business_id, id, status, event_id, event_name, tiers, local_start, starts_at, ends_at, quantity,
				total, currency, customer_name, locale, offer_version, created_at, cancelled_at)
			VALUES ($1, $2, $3, $2, 'Gala', '[{"name": "VIP"}]', '2027-12-31 20:00', now(), now(), 2, $4::bigint, 'EUR', 'Zoë', 'en', 1, now(),
				CASE WHEN $3::text = 'cancelled' THEN now() END)`, business, uuid.New(), order.status, order.total)
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := pool.Exec(testkit.AsSystem(t),
		`INSERT INTO payments (business_id, subject_kind, subject_id, status, provider, account, amount, currency,
			cancellation_policy, refunded, due_at, created_at, updated_at)
		SELECT business_id, 'ticket', id, 'paid', 'stripe', 'acct', 6000, currency, '{}', CASE status WHEN 'cancelled' THEN 6000 ELSE 0 END, now(), now(), now()
		FROM tickets WHERE business_id = $1 AND total = 6000`, business)
	if err != nil {
		t.Fatal(err)
	}
	q := report.Query{From: timespan.NewDate(2027, 12, 31), To: timespan.NewDate(2027, 12, 31), By: report.Month}
	got, err := s.RevenueReport(testkit.AsSystem(t), business, q)
	want := []store.RevenueRow{{Date: timespan.NewDate(2027, 12, 1), Kind: "ticket", Currency: euro, Sold: 2,
		Total: 18_000, Paid: 12_000, Refunded: 6_000}}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v (-want +got):\n%s", err, diff.Diff(want, got))
	}
}

// TestReportsSumByLocation shows that reports by location have one row for each location over all dates, and that a
// booking without a location counts at the default location.
func TestReportsSumByLocation(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	business := uuid.New()
	for i, at := range []*store.Location{harbour, station, nil, station} {
		b := newBookingAt(business, at, 0, uuid.New(), i*24*60, i*24*60+45, 0)
		b.Total = int64(1000 << i)
		mustBook(t, s, b)
	}
	day := timespan.DateOf(noon, time.UTC)
	q := report.Query{From: day - 40, To: day + 40, By: report.Location, DefaultLocation: harbour.ID}
	bookings, err := s.BookingsReport(t.Context(), business, q)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int64{}
	for _, row := range bookings {
		if row.Date != q.From || row.LocationID == nil {
			t.Errorf("%+v", row)
			continue
		}
		counts[row.LocationID.String()+" "+row.LocationName] += row.Bookings
	}
	want := map[string]int64{harbour.ID.String() + " Harbour": 2, station.ID.String() + " Station": 2}
	if !maps.Equal(counts, want) {
		t.Errorf("bookings: %v, want %v", counts, want)
	}
	revenue, err := s.RevenueReport(t.Context(), business, q)
	if err != nil {
		t.Fatal(err)
	}
	sums := map[uuid.UUID]int64{}
	for _, row := range revenue {
		sums[*row.LocationID] += row.Total
	}
	if want := map[uuid.UUID]int64{harbour.ID: 1000 + 4000, station.ID: 2000 + 8000}; !maps.Equal(sums, want) {
		t.Errorf("revenue: %v, want %v", sums, want)
	}
	q.By = report.Month
	if months, err := s.BookingsReport(t.Context(), business, q); err != nil || len(months) == 0 ||
		months[0].Group != (report.Group{}) {
		t.Errorf("by month: %+v, %v", months, err)
	}
}

// groupSums are the numbers of one group in the reports about bookings and revenue.
type groupSums struct{ Bookings, Cancelled, Guests, Sold, Total, Paid int64 }

// groupedSale is a random booking of one or two services, with the groups to which it belongs.
type groupedSale struct {
	start        time.Time
	email        string
	staff        uuid.UUID
	services     []uuid.UUID
	prices       []int64
	isCancelled  bool
	guests, paid int64
}

// storeGrouped stores 240 random bookings, one an hour.
func storeGrouped(t *testing.T, pool *pgxpool.Pool, business uuid.UUID, r *rand.Rand) []groupedSale {
	t.Helper()
	services, staff := []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}, []uuid.UUID{uuid.New(), uuid.New()}
	var all []groupedSale
	for i := range 240 {
		b := groupedSale{
			start: time.Date(2027, 3, 1, i, 0, 0, 0, time.UTC), guests: int64(1 + r.IntN(3)), staff: staff[r.IntN(2)],
			email:       []string{"", "ana@example.com", "ANA@example.com", fmt.Sprintf("c%d@example.com", r.IntN(60))}[r.IntN(4)],
			isCancelled: r.IntN(4) == 0, services: services[:1+r.IntN(2)], prices: []int64{int64(r.IntN(5000)), int64(r.IntN(5000))},
		}
		if i%2 == 0 {
			b.services = services[2:]
		}
		b.prices = b.prices[:len(b.services)]
		id, status, list, total := uuid.New(), "completed", "", int64(0)
		for j, service := range b.services {
			list += fmt.Sprintf(`, {"id": %q, "name": "Service", "price": %d}`, service, b.prices[j])
			total += b.prices[j]
		}
		if b.isCancelled {
			status = "cancelled"
		}
		if _, err := pool.Exec(testkit.AsSystem(t), `INSERT INTO bookings (business_id, id, status, starts_at, ends_at, local_start, local_end, services, staff_id, staff_name,
				party_size, total, currency, first_booking, source, customer_name, customer_email, form_data, locale, offer_version, created_at, updated_at)
			VALUES ($1, $2, $3, $4, $5, $4::timestamptz AT TIME ZONE 'UTC', $5::timestamptz AT TIME ZONE 'UTC', $6, $7, 'Anna', $8, $9, 'EUR', false, 'page', 'Zoë', $10, '{}', 'en', 1, $4, $4)`,
			business, id, status, b.start, b.start.Add(time.Hour), "["+list[2:]+"]", b.staff, b.guests, total, b.email); err != nil {
			t.Fatal(err)
		}
		if r.IntN(2) == 0 && total > 0 {
			b.paid = total
			if _, err := pool.Exec(testkit.AsSystem(t), `INSERT INTO payments (business_id, subject_kind, subject_id, status, provider, account, amount, currency,
					cancellation_policy, due_at, created_at, updated_at)
				VALUES ($1, 'booking', $2, 'paid', 'stripe', 'acct', $3, 'EUR', '{}', $4, $4, $4)`, business, id, total, b.start); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, b)
	}
	return all
}

// sumGroups adds up the bookings within the dates of a report, by group.
func sumGroups(all []groupedSale, q report.Query) map[report.Group]groupSums {
	sums, visited := map[string]groupSums{}, map[string]bool{}
	for _, b := range all {
		kind, customer := report.NewCustomer, strings.ToLower(b.email)
		switch {
		case customer == "":
			kind = ""
		case visited[customer]:
			kind = report.ReturningCustomer
		}
		visited[customer] = visited[customer] || !b.isCancelled
		if d := timespan.DateOf(b.start, time.UTC); d < q.From || d > q.To {
			continue
		}
		parts := map[string]int64{kind: 0}
		switch q.By {
		case report.Staff:
			parts = map[string]int64{b.staff.String(): 0}
		case report.Service:
			parts = map[string]int64{}
			for i, service := range b.services {
				parts[service.String()] = b.prices[i]
			}
		default:
		}
		for name, price := range parts {
			g := sums[name]
			if g.Bookings++; b.isCancelled {
				g.Cancelled++
			} else {
				g.Guests, g.Sold = g.Guests+b.guests, g.Sold+1
				g.Total += price
				for i := range b.prices {
					if q.By != report.Service {
						g.Total += b.prices[i]
					}
				}
			}
			if q.By != report.Service || name == b.services[0].String() {
				g.Paid += b.paid
			}
			sums[name] = g
		}
	}
	byGroup := map[report.Group]groupSums{}
	for name, g := range sums {
		byGroup[report.Group{CustomerKind: name}] = g
	}
	return byGroup
}

// TestReportsSumByGroup compares the reports by service, by member and by kind of customers with sums of the same random
// bookings. A customer returns if an earlier booking, also before the report, is not cancelled.
func TestReportsSumByGroup(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	seed := rand.Uint64()
	t.Log("seed", seed)
	business := uuid.New()
	all := storeGrouped(t, pool, business, rand.New(rand.NewPCG(seed, 2)))
	storeGrouped(t, pool, uuid.New(), rand.New(rand.NewPCG(seed, 3))) // bookings of another business
	for _, by := range []report.By{report.Service, report.Staff, report.CustomerKind} {
		q := report.Query{From: timespan.NewDate(2027, 3, 4), To: timespan.NewDate(2027, 3, 9), By: by}
		got := map[report.Group]groupSums{}
		name := func(g report.Group) report.Group {
			if g.ID() != nil {
				g.CustomerKind = g.ID().String()
			}
			return report.Group{CustomerKind: g.CustomerKind}
		}
		bookings, err := s.BookingsReport(testkit.AsSystem(t), business, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range bookings {
			got[name(row.Group)] = groupSums{Bookings: row.Bookings, Cancelled: row.Cancelled, Guests: row.Guests}
		}
		revenue, err := s.RevenueReport(testkit.AsSystem(t), business, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range revenue {
			g := got[name(row.Group)]
			g.Sold, g.Total, g.Paid = row.Sold, row.Total, row.Paid
			got[name(row.Group)] = g
		}
		if want := sumGroups(all, q); !maps.Equal(got, want) {
			t.Errorf("by %s (-want +got):\n%s", by, diff.Diff(want, got))
		}
	}
}
