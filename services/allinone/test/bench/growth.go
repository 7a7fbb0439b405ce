package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Size is a number of businesses and the total number of their bookings. Each business has the same kind of offer as
// the salons of the other cases.
type Size struct{ Businesses, Bookings int }

// The maximum values of a [Size]. They are limited because one database on this machine stores all data.
const (
	maxBusinesses = 100_000
	maxBookings   = 10_000_000
)

// ParseSizes parses a list of sizes such as "10:10000,1000:1000000". Each size is a number of businesses and a number
// of bookings. The sizes must be in ascending order.
func ParseSizes(text string) ([]Size, error) {
	var sizes []Size
	last := Size{}
	for part := range strings.SplitSeq(text, ",") {
		var s Size
		if n, err := fmt.Sscanf(part, "%d:%d", &s.Businesses, &s.Bookings); n != 2 || err != nil {
			return nil, fmt.Errorf("%q is not a size; write businesses and bookings such as 10:10000", part)
		}
		if s.Businesses < 1 || s.Businesses > maxBusinesses || s.Bookings < 1 || s.Bookings > maxBookings {
			return nil, fmt.Errorf("%q is out of bounds; there are up to %d businesses and %d bookings", part,
				maxBusinesses, maxBookings)
		}
		if s.Businesses < last.Businesses || s.Bookings < last.Bookings {
			return nil, fmt.Errorf("%q is smaller than the size before it; let sizes grow", part)
		}
		sizes, last = append(sizes, s), s
	}
	return sizes, nil
}

// GrowthRow is the measurement of one case at one size.
type GrowthRow struct {
	Size
	Row
	Pages int // database pages that the query of occupied time reads per request; 0: there is no query
}

// measureGrowth measures the same cases at each size. For each size, it creates a database and starts new processes.
func (o Options) measureGrowth(ctx context.Context) ([]GrowthRow, error) {
	var all []GrowthRow
	for _, size := range o.Sizes {
		rows, err := o.measureSize(ctx, size)
		if err != nil {
			return nil, fmt.Errorf("%d businesses and %d bookings: %w", size.Businesses, size.Bookings, err)
		}
		all = append(all, rows...)
	}
	return all, nil
}

func (o Options) measureSize(ctx context.Context, size Size) ([]GrowthRow, error) {
	database, drop, err := o.makeFilledDatabase(ctx, size)
	if err != nil {
		return nil, err
	}
	defer drop()
	o.DatabaseURL = database
	w, err := newSystem(ctx, o)
	if err != nil {
		return nil, err
	}
	defer w.close()
	return w.measureGrown(ctx, size)
}

func (w *system) measureGrown(ctx context.Context, size Size) ([]GrowthRow, error) {
	set, err := w.newWorkingSet(ctx, size)
	if err != nil {
		return nil, err
	}
	var all []GrowthRow
	for _, c := range w.listGrowthCases(set) {
		_, _ = fmt.Fprintf(w.o.Progress, "measuring %s at %d businesses and %d bookings\n", c.name, size.Businesses,
			size.Bookings)
		row, err := w.measure(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		g := GrowthRow{Size: size, Row: row}
		if c.name == grownSlotsName {
			if g.Pages, err = w.countPages(ctx, set[len(set)/2]); err != nil {
				return nil, err
			}
		}
		all = append(all, g)
	}
	return all, w.saveHeap(size)
}

// countPages returns the number of database pages that PostgreSQL reads for the occupied time of a business on one day.
// countPages runs the query twice and uses the second result, because the first query of a connection also reads pages
// of the system catalog.
func (w *system) countPages(ctx context.Context, s salon) (int, error) {
	conn, err := w.pool.Acquire(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Release()
	day := tomorrow.AddDate(0, 0, lastBookedDay)
	var text []byte
	for range 2 {
		err := conn.QueryRow(ctx, "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "+dayQuery, s.id, day,
			day.AddDate(0, 0, 1)).Scan(&text)
		if err != nil {
			return 0, err
		}
	}
	var plans []struct {
		Plan struct {
			Hit  int `json:"Shared Hit Blocks"`
			Read int `json:"Shared Read Blocks"`
		}
	}
	if err := json.Unmarshal(text, &plans); err != nil || len(plans) != 1 {
		return 0, fmt.Errorf("PostgreSQL explains in %d plans: %w", len(plans), err)
	}
	return plans[0].Plan.Hit + plans[0].Plan.Read, nil
}

const grownSlotsName = "GET /slots"

// saveHeap writes the heap profile of the services to Options.ProfileDir, if that is set.
func (w *system) saveHeap(size Size) error {
	if w.o.ProfileDir == "" {
		return nil
	}
	return w.saveURL(w.addresses.Inside+"/debug/pprof/heap?gc=1",
		filepath.Join(w.o.ProfileDir, fmt.Sprintf("grown-%d-%d.heap.pprof", size.Businesses, size.Bookings)))
}

// maxWorkingSet is the maximum number of businesses that the requests use. The other businesses only make the tables
// larger.
const maxWorkingSet = 1000

// newWorkingSet returns the businesses that the requests use, evenly chosen from all businesses, with API keys for
// bookings.
func (w *system) newWorkingSet(ctx context.Context, size Size) ([]salon, error) {
	set := make([]salon, min(size.Businesses, maxWorkingSet))
	for i := range set {
		set[i] = newSalon(formatGrowthSlug(i * (size.Businesses / len(set))))
	}
	const keys = 2000 // each key allows 100 bookings a minute
	for i := range set {
		if err := w.makeKeys(ctx, &set[i], keys/len(set)); err != nil {
			return nil, err
		}
	}
	return set, nil
}

// listGrowthCases returns the cases that are measured at each size. The requests of these cases use the businesses in
// the argument `set` in turn. Before the measurement, listGrowthCases sends one request of each kind for each business
// to fill the caches.
func (w *system) listGrowthCases(set []salon) []benchCase {
	ask := func(name, service string, path func(salon) string) benchCase {
		return benchCase{name: name, allowedStatuses: []int{http.StatusOK}, send: func(n int64) (int, error) {
			s := set[int(n)%len(set)]
			return w.http.send(call{Method: http.MethodGet, URL: w.addresses.Services[service] + "/api/public/" +
				s.slug +
				path(s), Headers: newClientHeaders(n)}, nil)
		}}
	}
	same := func(path string) func(salon) string { return func(salon) string { return path } }
	lists := ask("GET /services", "catalog", same("/services"))
	slots := ask(grownSlotsName, "availability", formatGrowthSlots)
	info, staff := ask("GET /info", "catalog", same("/info")), ask("GET /staff", "catalog", same("/staff"))
	rental := ask("GET /rental-availability", "rental", func(s salon) string {
		return "/rental-availability?startDate=2027-03-02&endDate=2027-03-04&rentalId=" + s.rental.String()
	})
	book := benchCase{name: "POST /book", allowedStatuses: []int{http.StatusCreated}, send: func(n int64) (int, error) {
		return w.bookInWorkingSet(set, n)
	}}
	lists.check = func() error { return w.sendToEach(len(set), lists, info, staff, rental) }
	slots.check = func() error { return errors.Join(w.checkGrowthSlots(set[0]), w.sendToEach(len(set), slots)) }
	book.check = func() error { return w.sendToEach(len(set), book) }
	return []benchCase{lists, slots, book}
}

func formatGrowthSlots(s salon) string {
	return "/slots?date=" + tomorrow.AddDate(0, 0, lastBookedDay).Format(time.DateOnly) + "&service_id=" +
		s.services[0].String()
}

// sendToEach sends the request of each case `n` times, so that each of `n` businesses gets the request once.
func (w *system) sendToEach(n int, cases ...benchCase) error {
	for _, c := range cases {
		for range n {
			status, err := c.send(w.requestNumber.Add(1))
			if err != nil {
				return err
			}
			if !slices.Contains(c.allowedStatuses, status) {
				return fmt.Errorf("%s: the answer is %d", c.name, status)
			}
		}
	}
	return nil
}

// bookInWorkingSet sends the n-th booking request. The requests use all businesses in the argument `set` in turn, and
// book in the hours after the existing bookings.
func (w *system) bookInWorkingSet(set []salon, n int64) (int, error) {
	const free = closingHour - firstFreeHour // number of free hours a day
	s, i := set[int(n)%len(set)], n/int64(len(set))
	member, half, day := i%salonStaff, i/salonStaff%(2*free), i/(salonStaff*2*free)%lastBookedDay
	slot := member + salonStaff*(2*(firstFreeHour-openingHour)+half) + salonStaff*startsPerDay*day
	return w.http.send(w.newBookCall(s, slot, n), nil)
}

// checkGrowthSlots checks the free slots of a business on one day. The number of free slots must match the occupied
// time in the database.
func (w *system) checkGrowthSlots(s salon) error {
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	var taken int
	day := tomorrow.AddDate(0, 0, lastBookedDay)
	err := w.pool.QueryRow(ctx, `SELECT count(*) FROM booking.occupied_time
		WHERE business_id = $1 AND during && tstzrange($2, $3)`, s.id, day, day.AddDate(0, 0, 1)).Scan(&taken)
	if err != nil {
		return err
	}
	var list struct{ Slots []json.RawMessage }
	if err := w.fetchAnswer("grown", w.addresses.Services["availability"]+"/api/public/"+s.slug+formatGrowthSlots(s),
		&list); err != nil {
		return err
	}
	if want := salonStaff*startsPerDay - taken; taken == 0 || len(list.Slots) != want {
		return fmt.Errorf("%d slots with %d bookings on that day, want %d", len(list.Slots), taken, want)
	}
	return nil
}

// printGrowth prints the table with the measurements at each size.
func printGrowth(out io.Writer, grown []GrowthRow) {
	if len(grown) == 0 {
		return
	}
	_, _ = fmt.Fprint(out, "\ngrowth\tbusinesses\tbookings\trequests/s\tp50 ms\tp99 ms\tserver µs\tPostgres "+
		"µs\tRedis µs\tresident MB\tpages\t\n")
	for _, g := range grown {
		pages := ""
		if g.Pages > 0 {
			pages = strconv.Itoa(g.Pages)
		}
		_, _ = fmt.Fprintf(out, "%s\t%d\t%d\t%.0f\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t\n", g.Name, g.Businesses, g.Bookings,
			g.PerSecond,
			milliseconds(g.P50), milliseconds(g.P99), microseconds(g.serverCPU()), microseconds(g.CPU.Postgres),
			microseconds(g.CPU.Redis), g.Resident>>20, pages)
	}
}

// claimedResident is the bound, in bytes, that Slotmesh promises for the memory of all services together at
// claimedSize.
var (
	claimedSize     = Size{Businesses: 1000, Bookings: 1_000_000}
	claimedResident = 400.0 * (1 << 20)
)

// listGrowthClaims returns the claim about the memory of the services at claimedSize, with the largest measured value.
func listGrowthClaims(grown []GrowthRow) []Claim {
	var most int64
	for _, g := range grown {
		if g.Size == claimedSize {
			most = max(most, g.Resident)
		}
	}
	return []Claim{{"1,000 businesses, 1,000,000 bookings: resident, all services together, against 400 MB",
		float64(most) / claimedResident, 1, true}}
}
