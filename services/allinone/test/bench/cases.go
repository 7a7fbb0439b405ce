package bench

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"
)

// randomness is the machine's random source as an io.Reader.
type randomness struct{}

// Read fills b with random bytes.
func (randomness) Read(b []byte) (int, error) { return rand.Read(b) }

// aCase is one thing to measure.
type aCase struct {
	name    string
	bare    bool // requests the bare program, or the database directly
	behind  bool // the bare program calls Slotmesh
	shot    shot
	clients int          // in the closed loop; 0: the option
	allowed []int        // expected statuses
	check   func() error // checks the answers before the measurement; may be nil

	// sessions is the application_name of PostgreSQL sessions whose CPU time is also reported separately.
	// "" means none.
	sessions string
}

// The application_name of booking's PostgreSQL sessions, which also read its events, and of the
// sessions of this process.
const (
	bookingSessions = "slotmesh-booking"
	ownSessions     = "bench"
)

// early reports whether a case is measured before the others. Cases that only use the database must
// come first: otherwise messages about earlier bookings would still be written while they are measured.
func (c aCase) early() bool { return c.sessions == ownSessions }

// Names of cases that the claims compare.
const (
	infoName, infoBare          = "GET /info, catalog", "  bare: script, bytes of /info"
	servicesName, servicesBare  = "GET /services, catalog", "  bare: script, bytes of /services"
	slotsName, slotsBare        = "GET /slots, one day, 10 staff", "  bare: script, query, bytes of /slots"
	datesName, datesBare        = "GET /available-dates, 62 days", "  bare: script, query, bytes of the dates"
	rentalName, rentalBare      = "GET /rental-availability, 30 days", "  bare: script, query, bytes of the rental"
	bookName, bookBare, bookHot = "POST /book, distinct slots", "  bare: one statement, same constraint",
		"POST /book, one member, 64 clients"
	bookLeast               = "  bare: what no booking can do without, two statements"
	agentName, agentBare    = "MCP find_slots, one day", "  bare: the SDK, one tool that asks for /slots"
	frontInfo, frontSlots   = "GET /info, through the front", "GET /slots, through the front"
	pageName, frontServices = "the booking page's first view, through the front", "GET /services, through the front"
)

func (w *world) cases() []aCase {
	public := func(service, path string) string {
		return w.at.Services[service] + "/api/public/" + w.reader.slug + path
	}
	front := w.at.Front + "/api/public/" + w.reader.slug
	slots := "/slots?date=" + tomorrow.Format(time.DateOnly) + "&service_id=" + w.reader.services[0].String()
	dates := "/available-dates?start=" + tomorrow.Format(time.DateOnly) + "&end=" + tomorrow.AddDate(0, 0,
		window-1).Format(time.DateOnly) +
		"&service_id=" + w.reader.services[0].String()
	rental := "/rental-availability?startDate=" + tomorrow.Format(time.DateOnly) + "&endDate=" + tomorrow.AddDate(0, 0,
		29).Format(time.DateOnly) +
		"&rentalId=" + w.reader.rental.String()
	return []aCase{
		w.read(infoName, public("catalog", "/info"), nil),
		w.bareRead(infoBare, "/bytes/info", w.sameAs("info", public("catalog", "/info"))),
		w.read(servicesName, public("catalog", "/services"), nil),
		w.bareRead(servicesBare, "/bytes/services", w.sameAs("services", public("catalog", "/services"))),
		w.read(slotsName, public("availability", slots), w.rightSlots(public("availability", slots))),
		w.bareRead(slotsBare, "/day/slots"+w.windowOf(1), w.rightSlots(public("availability", slots))),
		w.read(datesName, public("availability", dates), w.rightDates(public("availability", dates))),
		w.bareRead(datesBare, "/window/dates"+w.windowOf(window), w.rightDates(public("availability", dates))),
		w.read(rentalName, public("rental", rental), w.rightRental(public("rental", rental))),
		w.bareRead(rentalBare, "/rented/rental"+w.windowOf(30), w.rightRental(public("rental", rental))),
		w.agents(),
		w.bareAgents(public("availability", slots)),
		w.read(frontInfo, front+"/info", nil),
		w.read(frontSlots, front+slots, nil),
		w.read(frontServices, front+"/services", nil),
		w.read(pageName, w.at.Front+"/b/"+w.reader.slug, w.rightPage),
		{name: bookName, sessions: bookingSessions, shot: w.bookAnywhere, allowed: []int{http.StatusCreated},
			check: w.rightBooking},
		{name: bookBare, bare: true, sessions: ownSessions, shot: w.insert, allowed: []int{http.StatusCreated},
			check: w.makeBareTables},
		{name: bookLeast, bare: true, sessions: ownSessions, shot: w.leastBook, allowed: []int{http.StatusCreated},
			check: w.makeLeastTables},
		{name: bookHot, sessions: bookingSessions, shot: w.bookHot, clients: 64,
			allowed: []int{http.StatusCreated, http.StatusConflict}},
	}
}

func (w *world) read(name, url string, check func() error) aCase {
	return aCase{name: name, allowed: []int{http.StatusOK}, check: check, shot: func(n int64) (int, error) {
		return w.http.send(call{Method: http.MethodGet, URL: url, Headers: client(n)}, nil)
	}}
}

// rightPage checks that the page links to each service.
func (w *world) rightPage() error {
	body, err := w.http.get(call{Method: http.MethodGet, URL: w.at.Front + "/b/" + w.reader.slug,
		Headers: client(w.number.Add(1))})
	if err != nil {
		return err
	}
	for _, service := range w.reader.services {
		if !bytes.Contains(body, []byte("/who?service="+service.String())) {
			return fmt.Errorf("the page leads to no service %s", service)
		}
	}
	return nil
}

// bareRead returns a case that measures GET path at the program that Slotmesh is compared with ([bare]). Before the
// measurement, check stores the expected answer in that program, which then answers with the same bytes as Slotmesh.
func (w *world) bareRead(name, path string, check func() error) aCase {
	c := w.read(name, w.bareAt.Public+path, check)
	c.bare = true
	return c
}

// windowOf returns the query parameters of a request to the bare program ([bare]): the reader's
// business, and a time window of this number of days from tomorrow.
func (w *world) windowOf(days int) string {
	return fmt.Sprintf("?business=%s&from=%d&to=%d", w.reader.id, tomorrow.Unix(), tomorrow.AddDate(0, 0, days).Unix())
}

// sameAs returns a check that requests url from Slotmesh and stores the answer's bytes in the bare
// program ([bare]) under name.
func (w *world) sameAs(name, url string) func() error {
	return func() error {
		body, err := w.http.get(call{Method: http.MethodGet, URL: url, Headers: client(w.number.Add(1))})
		if err != nil {
			return err
		}
		return w.give(name, body)
	}
}

// answer requests url from Slotmesh, stores the answer's bytes in the bare program ([bare]) under
// name, and decodes them into the argument into.
func (w *world) answer(name, url string, into any) error {
	body, err := w.http.get(call{Method: http.MethodGet, URL: url, Headers: client(w.number.Add(1))})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return err
	}
	return w.give(name, body)
}

// takenOn returns the number of bookings that were created before the run on a day of the window.
func (w *world) takenOn(day int) int {
	n, each := w.o.Seeds.Bookings, w.o.Seeds.Bookings/window
	if day < n%window {
		each++
	}
	return each
}

func (w *world) rightSlots(url string) func() error {
	return func() error {
		var list struct {
			Slots    []json.RawMessage
			Computed bool
		}
		if err := w.answer("slots", url, &list); err != nil {
			return err
		}
		if want := salonStaff*startsADay - w.takenOn(0); len(list.Slots) != want || !list.Computed {
			return fmt.Errorf("%d slots, computed %v; want %d, true", len(list.Slots), list.Computed, want)
		}
		return nil
	}
}

func (w *world) rightDates(url string) func() error {
	return func() error {
		var calendar struct{ Days map[string]int }
		if err := w.answer("dates", url, &calendar); err != nil {
			return err
		}
		for day := range window {
			date := tomorrow.AddDate(0, 0, day).Format(time.DateOnly)
			if got, want := calendar.Days[date], salonStaff*startsADay-w.takenOn(day); got != want {
				return fmt.Errorf("%d starts on %s, want %d", got, date, want)
			}
		}
		return nil
	}
}

func (w *world) rightRental(url string) func() error {
	return func() error {
		for quantity, want := range map[string]bool{"&quantity=2": false, "": true} { // four of five are reserved
			var answer struct{ Available *bool }
			name := "rental"
			if quantity != "" {
				name = "no-rental"
			}
			if err := w.answer(name, url+quantity, &answer); err != nil {
				return err
			}
			if answer.Available == nil || *answer.Available != want {
				return fmt.Errorf("available is not %v with %q", want, quantity)
			}
		}
		return nil
	}
}

func (w *world) rightBooking() error {
	twice := w.bookCall(w.hot, 0, w.number.Add(1))
	for _, want := range []int{http.StatusCreated, http.StatusConflict} {
		var said string
		status, err := w.http.send(twice, func(body []byte) { said = string(body) })
		if err != nil {
			return err
		}
		if status != want {
			return fmt.Errorf("booking answers %d, want %d: %s", status, want, said)
		}
	}
	return nil
}

// agents is the case of an agent that calls the MCP server for the slots of a day.
func (w *world) agents() aCase {
	ask := w.callTool(w.at.Services["mcp"]+"/mcp", "find_slots",
		fmt.Sprintf(`{"service_ids":[%q],"date":%q}`, w.reader.services[0], tomorrow.Format(time.DateOnly)))
	return aCase{
		name: agentName, allowed: []int{http.StatusOK},
		shot: func(n int64) (int, error) { return w.http.send(ask(n), nil) },
		check: func() error {
			body, err := w.http.get(ask(w.number.Add(1)))
			if err != nil {
				return err
			}
			return w.rightTotal(body)
		},
	}
}

// bareAgents is the case of the bare MCP server, which requests the same slots from availability.
func (w *world) bareAgents(slots string) aCase {
	ask := w.callTool(w.bareAt.MCP, "ask", fmt.Sprintf(`{"url":%q}`, slots))
	return aCase{name: agentBare, bare: true, behind: true, allowed: []int{http.StatusOK},
		shot: func(n int64) (int, error) {
			var failed string
			status, err := w.http.send(ask(n), func(body []byte) {
				if !bytes.Contains(body, []byte(`"structuredContent":{"slots":[{`)) {
					failed = string(body)
				}
			})
			if err == nil && failed != "" {
				err = errors.New("the tool has failed: " + failed)
			}
			return status, err
		}}
}

// callTool returns a function that creates calls of an MCP tool. Each call has its own client address.
// The calls take turns with the reader's API keys.
func (w *world) callTool(url, tool, arguments string) func(n int64) call {
	body := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool,
		arguments)
	return func(n int64) call {
		return call{Method: http.MethodPost, URL: url, Body: body, Headers: append(client(n),
			"Content-Type", "application/json", "Accept", "application/json, text/event-stream",
			"Authorization", "Bearer "+w.reader.keys[int(n)%len(w.reader.keys)])}
	}
}

func (w *world) rightTotal(body []byte) error {
	var answer struct {
		Result struct{ StructuredContent struct{ Total int } }
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return fmt.Errorf("%w: %s", err, body)
	}
	if got, want := answer.Result.StructuredContent.Total, salonStaff*startsADay-w.takenOn(0); got != want {
		return fmt.Errorf("%d slots in all, want %d: %s", got, want, body)
	}
	return nil
}

// bookAnywhere books a free slot. Successive requests use all salons in turn.
func (w *world) bookAnywhere(n int64) (int, error) {
	return w.http.send(w.bookCall(w.salons[int(n)%len(w.salons)], anywhere(n, len(w.salons)), n), nil)
}

// anywhere returns the number of the slot that request n books in its salon.
func anywhere(n int64, salons int) int64 {
	const all = salonStaff * startsADay * advanceDays / 2
	return n / int64(salons) * 7919 % all // a prime, so that every slot is used once before any is used again
}

// hottest returns the slot of the first staff member that request n books. Request n+1 or n-1 books the same slot.
func hottest(n int64) int64 { return n / 2 % (startsADay * advanceDays / 2) * salonStaff }

// bookHot makes one attempt of the case in which all clients book the slots of one staff member. Two
// requests compete for each slot, so every second request is refused.
func (w *world) bookHot(n int64) (int, error) {
	return w.http.send(w.bookCall(w.hot, hottest(n), n), nil)
}

// makeBareTables creates tables like booking's, with the same constraints, for the comparison.
func (w *world) makeBareTables() error {
	_, err := w.pool.Exec(context.Background(), `CREATE SCHEMA IF NOT EXISTS bare;
		CREATE TABLE bare.bookings (LIKE booking.bookings INCLUDING ALL);
		CREATE TABLE bare.occupied_time (LIKE booking.occupied_time INCLUDING ALL)`)
	return err
}

// insert writes a booking and its occupied time in one statement, for comparison. It returns status
// 201 if the row was inserted.
func (w *world) insert(n int64) (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), answerWithin)
	defer cancel()
	s := w.salons[int(n)%len(w.salons)]
	i := n / int64(len(w.salons))
	starts := tomorrow.Add(time.Duration(i/salonStaff) * 30 * time.Minute)
	tag, err := w.pool.Exec(ctx, `
		WITH taken AS (
			INSERT INTO bare.occupied_time (business_id, booking_id, part, resource_id, lane, during, holder)
			VALUES ($1, $2, 1, $3, 0, tstzrange($4, $5), gen_random_uuid()) ON CONFLICT DO NOTHING RETURNING 1
		)
		INSERT INTO bare.bookings (business_id, id, status, starts_at, ends_at, local_start, local_end, services, staff_id, staff_name, party_size,
			total, currency, first_booking, source, customer_name, customer_email, form_data, locale, offer_version, created_at, updated_at)
		SELECT $1, $2, 'pending', $4, $5, $4, $5, '[{}]', $3, 'Member', 1, 0, 'EUR', false, 'bench', 'C', $6, '{}', 'en', 1, now(), now()
		FROM taken`, s.id, uuid.New(), s.staff[i%salonStaff], starts, starts.Add(30*time.Minute), fmt.Sprintf("c%d@example.com", n))
	if err != nil {
		return 0, err
	}
	if tag.RowsAffected() == 0 {
		return http.StatusConflict, nil
	}
	return http.StatusCreated, nil
}
