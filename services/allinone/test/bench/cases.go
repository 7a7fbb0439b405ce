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

// randomReader is the machine's random source as an io.Reader.
type randomReader struct{}

// Read fills `b` with random bytes.
func (randomReader) Read(b []byte) (int, error) { return rand.Read(b) }

// benchCase is a case to measure: a kind of request, with the number of clients and the expected answers.
type benchCase struct {
	name            string
	isBare          bool // the requests go to the bare program ([bareServer]) or directly to the database
	callsSlotmesh   bool // the bare program calls Slotmesh for its answer
	send            sendFunc
	clients         int          // number of clients in the closed loop; 0: Options.Clients
	allowedStatuses []int        // expected statuses of answers
	check           func() error // checks an answer before the measurement; may be nil

	// sessions is the application_name of those PostgreSQL sessions whose CPU time is also reported separately. If it
	// is "", no session is reported separately.
	sessions string
}

// The values of application_name for two kinds of PostgreSQL sessions: the sessions of the booking service, with which
// booking also reads its events, and the sessions of this process.
const (
	bookingSessions = "slotmesh-booking"
	ownSessions     = "bench"
)

// isEarly reports whether a case is measured before the other cases. Cases that only use the database must come first.
// After a case with bookings, the notifications service still writes messages about these bookings, which would distort
// the measurement.
func (c benchCase) isEarly() bool { return c.sessions == ownSessions }

// The names of the cases that the claims compare.
const (
	infoName, infoBare         = "GET /info, catalog", "  bare: bytes of /info"
	servicesName, servicesBare = "GET /services, catalog", "  bare: bytes of /services"
	slotsName, slotsBare       = "GET /slots, one day, 10 staff", "  bare: script, query, bytes of /slots"
	datesName, datesBare       = "GET /available-dates, 62 days", "  bare: script, query, bytes of the dates"
	rentalName, rentalBare     = "GET /rental-availability, 30 days",
		"  bare: script, query, bytes of the rental"
	bookName, bookBare, bookContested = "POST /book, distinct slots", "  bare: one statement, same constraint",
		"POST /book, one member, 64 clients"
	bookMinimal             = "  bare: what no booking can do without, two statements"
	agentName, agentBare    = "MCP find_slots, one day", "  bare: the SDK, one tool that asks for /slots"
	frontInfo, frontSlots   = "GET /info, through the front", "GET /slots, through the front"
	pageName, frontServices = "the booking page's first view, through the front", "GET /services, through the front"
)

func (w *system) listCases() []benchCase {
	public := func(service, path string) string {
		return w.addresses.Services[service] + "/api/public/" + w.readSalon.slug + path
	}
	front := w.addresses.Front + "/api/public/" + w.readSalon.slug
	slots := "/slots?date=" + tomorrow.Format(time.DateOnly) + "&service_id=" + w.readSalon.services[0].String()
	dates := "/available-dates?start=" + tomorrow.Format(time.DateOnly) + "&end=" + tomorrow.AddDate(0, 0,
		window-1).Format(time.DateOnly) +
		"&service_id=" + w.readSalon.services[0].String()
	rental := "/rental-availability?startDate=" + tomorrow.Format(time.DateOnly) + "&endDate=" + tomorrow.AddDate(0, 0,
		29).Format(time.DateOnly) +
		"&rentalId=" + w.readSalon.rental.String()
	return []benchCase{
		w.newReadCase(infoName, public("catalog", "/info"), nil),
		w.newBareReadCase(infoBare, "/bytes/info", w.storeSameAnswer("info", public("catalog", "/info"))),
		w.newReadCase(servicesName, public("catalog", "/services"), nil),
		w.newBareReadCase(servicesBare, "/bytes/services",
			w.storeSameAnswer("services", public("catalog", "/services"))),
		w.newReadCase(slotsName, public("availability", slots), w.checkSlots(public("availability", slots))),
		w.newBareReadCase(slotsBare, "/day/slots"+w.formatWindow(1), w.checkSlots(public("availability", slots))),
		w.newReadCase(datesName, public("availability", dates), w.checkDates(public("availability", dates))),
		w.newBareReadCase(datesBare, "/window/dates"+w.formatWindow(window),
			w.checkDates(public("availability", dates))),
		w.newReadCase(rentalName, public("rental", rental), w.checkRental(public("rental", rental))),
		w.newBareReadCase(rentalBare, "/rented/rental"+w.formatWindow(30), w.checkRental(public("rental", rental))),
		w.newAgentCase(),
		w.newBareAgentCase(public("availability", slots)),
		w.newReadCase(frontInfo, front+"/info", nil),
		w.newReadCase(frontSlots, front+slots, nil),
		w.newReadCase(frontServices, front+"/services", nil),
		w.newReadCase(pageName, w.addresses.Front+"/b/"+w.readSalon.slug, w.checkPage),
		{name: bookName, sessions: bookingSessions, send: w.bookNextSlot, allowedStatuses: []int{http.StatusCreated},
			check: w.checkBooking},
		{name: bookBare, isBare: true, sessions: ownSessions, send: w.insertBooking,
			allowedStatuses: []int{http.StatusCreated},
			check:           w.makeBareTables},
		{name: bookMinimal, isBare: true, sessions: ownSessions, send: w.bookMinimally,
			allowedStatuses: []int{http.StatusCreated},
			check:           w.makeMinimalTables},
		{name: bookContested, sessions: bookingSessions, send: w.bookContestedSlot, clients: 64,
			allowedStatuses: []int{http.StatusCreated, http.StatusConflict}},
	}
}

func (w *system) newReadCase(name, url string, check func() error) benchCase {
	return benchCase{name: name, allowedStatuses: []int{http.StatusOK}, check: check, send: func(n int64) (int, error) {
		return w.http.send(call{Method: http.MethodGet, URL: url, Headers: newClientHeaders(n)}, nil)
	}}
}

// checkPage checks that the booking page contains a link to each service.
func (w *system) checkPage() error {
	body, err := w.http.get(call{Method: http.MethodGet, URL: w.addresses.Front + "/b/" + w.readSalon.slug,
		Headers: newClientHeaders(w.requestNumber.Add(1))})
	if err != nil {
		return err
	}
	for _, service := range w.readSalon.services {
		if !bytes.Contains(body, []byte("/when?service="+service.String())) {
			return fmt.Errorf("the page leads to no service %s", service)
		}
	}
	return nil
}

// newBareReadCase returns a case that measures GET requests for the given path of the bare program ([bareServer]).
// Before the measurement, the function `check` stores Slotmesh's answer in the bare program, so that both answer with
// the same bytes.
func (w *system) newBareReadCase(name, path string, check func() error) benchCase {
	c := w.newReadCase(name, w.bareAddresses.Public+path, check)
	c.isBare = true
	return c
}

// formatWindow returns the query parameters of a request to the bare program ([bareServer]): the business w.readSalon,
// and a time window of the given number of days, which begins tomorrow.
func (w *system) formatWindow(days int) string {
	return fmt.Sprintf("?business=%s&from=%d&to=%d", w.readSalon.id, tomorrow.Unix(),
		tomorrow.AddDate(0, 0, days).Unix())
}

// storeSameAnswer returns a function for benchCase.check. The function requests `url` from Slotmesh and stores the
// answer under `name` in the bare program ([bareServer]).
func (w *system) storeSameAnswer(name, url string) func() error {
	return func() error {
		body, err := w.http.get(call{Method: http.MethodGet, URL: url, Headers: newClientHeaders(w.requestNumber.Add(1))})
		if err != nil {
			return err
		}
		return w.storeAnswer(name, body)
	}
}

// fetchAnswer requests `url` from Slotmesh, decodes the answer into `target`, and stores the answer under `name` in the
// bare program ([bareServer]).
func (w *system) fetchAnswer(name, url string, target any) error {
	body, err := w.http.get(call{Method: http.MethodGet, URL: url, Headers: newClientHeaders(w.requestNumber.Add(1))})
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, target); err != nil {
		return err
	}
	return w.storeAnswer(name, body)
}

// countSeededBookings returns how many of the bookings that were created before the run are on the given day. The
// argument `day` is the number of days since the first day with bookings.
func (w *system) countSeededBookings(day int) int {
	n, each := w.o.Seeds.Bookings, w.o.Seeds.Bookings/window
	if day < n%window {
		each++
	}
	return each
}

func (w *system) checkSlots(url string) func() error {
	return func() error {
		var list struct {
			Slots    []json.RawMessage
			Computed bool
		}
		if err := w.fetchAnswer("slots", url, &list); err != nil {
			return err
		}
		if want := salonStaff*startsPerDay - w.countSeededBookings(0); len(list.Slots) != want || !list.Computed {
			return fmt.Errorf("%d slots, computed %v; want %d, true", len(list.Slots), list.Computed, want)
		}
		return nil
	}
}

func (w *system) checkDates(url string) func() error {
	return func() error {
		var calendar struct{ Days map[string]int }
		if err := w.fetchAnswer("dates", url, &calendar); err != nil {
			return err
		}
		for day := range window {
			date := tomorrow.AddDate(0, 0, day).Format(time.DateOnly)
			if got, want := calendar.Days[date], salonStaff*startsPerDay-w.countSeededBookings(day); got != want {
				return fmt.Errorf("%d starts on %s, want %d", got, date, want)
			}
		}
		return nil
	}
}

func (w *system) checkRental(url string) func() error {
	return func() error {
		for quantity, want := range map[string]bool{"&quantity=2": false, "": true} { // four of five are reserved
			var answer struct{ Available *bool }
			name := "rental"
			if quantity != "" {
				name = "no-rental"
			}
			if err := w.fetchAnswer(name, url+quantity, &answer); err != nil {
				return err
			}
			if answer.Available == nil || *answer.Available != want {
				return fmt.Errorf("available is not %v with %q", want, quantity)
			}
		}
		return nil
	}
}

func (w *system) checkBooking() error {
	twice := w.newBookCall(w.contestedSalon, 0, w.requestNumber.Add(1))
	for _, want := range []int{http.StatusCreated, http.StatusConflict} {
		var output string
		status, err := w.http.send(twice, func(body []byte) { output = string(body) })
		if err != nil {
			return err
		}
		if status != want {
			return fmt.Errorf("booking answers %d, want %d: %s", status, want, output)
		}
	}
	return nil
}

// newAgentCase returns the case in which an agent calls the tool find_slots of the MCP server for one day.
func (w *system) newAgentCase() benchCase {
	ask := w.newToolCall(w.addresses.Services["mcp"]+"/mcp", "find_slots",
		fmt.Sprintf(`{"service_ids":[%q],"date":%q}`, w.readSalon.services[0], tomorrow.Format(time.DateOnly)))
	return benchCase{
		name: agentName, allowedStatuses: []int{http.StatusOK},
		send: func(n int64) (int, error) { return w.http.send(ask(n), nil) },
		check: func() error {
			body, err := w.http.get(ask(w.requestNumber.Add(1)))
			if err != nil {
				return err
			}
			return w.checkTotal(body)
		},
	}
}

// newBareAgentCase returns the case in which an agent calls the bare MCP server, which requests the same slots from the
// availability service.
func (w *system) newBareAgentCase(slots string) benchCase {
	ask := w.newToolCall(w.bareAddresses.MCP, "ask", fmt.Sprintf(`{"url":%q}`, slots))
	return benchCase{name: agentBare, isBare: true, callsSlotmesh: true, allowedStatuses: []int{http.StatusOK},
		send: func(n int64) (int, error) {
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

// newToolCall returns a function that creates the n-th call of an MCP tool. Each call has a different client address.
// The calls use the API keys of w.readSalon in turn.
func (w *system) newToolCall(url, tool, arguments string) func(n int64) call {
	body := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool,
		arguments)
	return func(n int64) call {
		return call{Method: http.MethodPost, URL: url, Body: body, Headers: append(newClientHeaders(n),
			"Content-Type", "application/json", "Accept", "application/json, text/event-stream",
			"Authorization", "Bearer "+w.readSalon.keys[int(n)%len(w.readSalon.keys)])}
	}
}

func (w *system) checkTotal(body []byte) error {
	var answer struct {
		Result struct{ StructuredContent struct{ Total int } }
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return fmt.Errorf("%w: %s", err, body)
	}
	if got, want := answer.Result.StructuredContent.Total,
		salonStaff*startsPerDay-w.countSeededBookings(0); got != want {
		return fmt.Errorf("%d slots in all, want %d: %s", got, want, body)
	}
	return nil
}

// bookNextSlot sends the n-th request of the case in which each request books a different slot. The requests use all
// salons in turn.
func (w *system) bookNextSlot(n int64) (int, error) {
	return w.http.send(w.newBookCall(w.salons[int(n)%len(w.salons)], chooseSlot(n, len(w.salons)), n), nil)
}

// chooseSlot returns the number of the slot that the n-th request books in its salon.
func chooseSlot(n int64, salons int) int64 {
	const all = salonStaff * startsPerDay * advanceDays / 2
	return n / int64(salons) * 7919 % all // 7919 is prime, so each slot is used once before a slot is used again
}

// chooseContestedSlot returns the number of the slot that the n-th request books. All these slots belong to the first
// staff member. Two consecutive requests choose the same slot.
func chooseContestedSlot(n int64) int64 { return n / 2 % (startsPerDay * advanceDays / 2) * salonStaff }

// bookContestedSlot sends the n-th request of the case in which all clients book the slots of one staff member. Two
// requests compete for each slot, so every second request is refused.
func (w *system) bookContestedSlot(n int64) (int, error) {
	return w.http.send(w.newBookCall(w.contestedSalon, chooseContestedSlot(n), n), nil)
}

// makeBareTables creates tables with the columns and constraints of booking's tables, for the cases without Slotmesh.
func (w *system) makeBareTables() error {
	_, err := w.pool.Exec(context.Background(), `CREATE SCHEMA IF NOT EXISTS bare;
		CREATE TABLE bare.bookings (LIKE booking.bookings INCLUDING ALL);
		CREATE TABLE bare.occupied_time (LIKE booking.occupied_time INCLUDING ALL)`)
	return err
}

// insertBooking writes a booking and its occupied time in one SQL statement, without Slotmesh. Bookings through
// Slotmesh are compared with this case. insertBooking returns status 201 if it inserted the booking.
func (w *system) insertBooking(n int64) (int, error) {
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
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
