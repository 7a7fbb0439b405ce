package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// rule is an invariant of the tables. Its SQL query returns one text for each violation. The query is derived from
// semantics.md and not from the services' code, so that it does not repeat an error in the code.
type rule struct{ name, query string }

// liveBookings contains all bookings that are not cancelled. The times of a booking include the buffers of its first
// and its last service (semantics.md §2). Occupied times are in occupied_time; long after their end, they are in
// past_occupied_time. The businesses are closed at night, so overlapping bookings have the same date.
const liveBookings = `
WITH held AS (
	SELECT business_id, booking_id, resource_id, during FROM booking.occupied_time
	UNION ALL SELECT business_id, booking_id, resource_id, during FROM booking.past_occupied_time
), live AS (
	SELECT b.business_id, b.id, b.staff_id, b.class_schedule_id, b.party_size, b.local_start::date AS day, first.service, first.capacity,
	       tstzrange(b.starts_at - make_interval(mins => first.before), b.ends_at + make_interval(mins => last.after)) AS during,
	       (SELECT count(*) FROM held o WHERE o.business_id = b.business_id AND o.booking_id = b.id) AS parts
	FROM booking.bookings b
	JOIN soak_services first ON first.service = (b.services -> 0 ->> 'id')::uuid
	JOIN soak_services last ON last.service = (b.services -> -1 ->> 'id')::uuid
	WHERE b.status <> 'cancelled'
)`

var rules = []rule{
	{"two bookings of one member overlap", liveBookings + `
		SELECT a.id || ' and ' || b.id || ' at ' || a.during
		FROM live a JOIN live b ON b.business_id = a.business_id AND b.staff_id = a.staff_id AND b.day = a.day AND b.id > a.id
		WHERE a.parts <= 1 AND b.parts <= 1 AND a.during && b.during
		  AND NOT (a.class_schedule_id IS NOT NULL AND a.class_schedule_id = b.class_schedule_id AND a.during = b.during)`},
	{"two bookings occupy one member's time", `
		SELECT a.booking_id || ' and ' || b.booking_id || ' at ' || a.during
		FROM booking.occupied_time a JOIN booking.occupied_time b
		  ON b.business_id = a.business_id AND b.resource_id = a.resource_id AND b.lane = a.lane AND b.booking_id > a.booking_id
		 AND lower(b.during)::date = lower(a.during)::date
		WHERE a.during && b.during AND a.holder <> b.holder`},
	{"a booking does not occupy its member's time with its buffers", liveBookings + `
		SELECT id || ' at ' || during FROM live
		WHERE parts = 1 AND staff_id IS NOT NULL AND NOT EXISTS (
			SELECT FROM held o
			WHERE o.business_id = live.business_id AND o.booking_id = live.id AND o.resource_id = live.staff_id AND o.during = live.during)
		   OR parts = 0`},
	{"a cancelled booking occupies time", `
		SELECT b.id::text FROM booking.bookings b JOIN booking.occupied_time o ON o.business_id = b.business_id AND o.booking_id = b.id
		WHERE b.status = 'cancelled'
		UNION ALL
		SELECT b.id::text FROM booking.bookings b JOIN booking.past_occupied_time o ON o.business_id = b.business_id AND o.booking_id = b.id
		WHERE b.status = 'cancelled'`},
	{"more bookings at a time than capacity units", liveBookings + `
		SELECT a.id || ': ' || count(*) || ' at ' || a.during
		FROM live a JOIN live b ON b.business_id = a.business_id AND b.service = a.service AND b.day = a.day AND b.during @> lower(a.during)
		WHERE a.staff_id IS NULL GROUP BY a.id, a.during, a.capacity HAVING count(*) > a.capacity`},
	{"more seats of a class booked than its capacity", liveBookings + `
		SELECT class_schedule_id || ' on ' || day || ': ' || sum(party_size)
		FROM live WHERE class_schedule_id IS NOT NULL GROUP BY class_schedule_id, day, capacity HAVING sum(party_size) > capacity`},
	{"the counter of a class differs from its booked seats", liveBookings + `
		SELECT s.session_id || ' at ' || s.starts_at || ': ' || s.taken
		FROM booking.class_sessions s
		WHERE s.taken <> (SELECT coalesce(sum(party_size), 0) FROM live WHERE class_schedule_id = s.session_id AND lower(during) = s.starts_at)`},
	{"more tickets of a tier sold than its capacity", fmt.Sprintf(`
		SELECT tier.id || ': ' || sum(tier.quantity) FROM booking.tickets, jsonb_to_recordset(tiers) AS tier (id uuid, quantity integer)
		WHERE status = 'sold' GROUP BY tier.id HAVING sum(tier.quantity) > %d`, tierCapacity)},
	{"more tickets of an event sold than its capacity", fmt.Sprintf(`
		SELECT event_id || ': ' || sum(quantity) FROM booking.tickets WHERE status = 'sold' GROUP BY event_id HAVING sum(quantity) > %d`, eventCapacity)},
	{"the counter of an event differs from its sold tickets", `
		SELECT e.event_id || ': ' || e.sold FROM booking.event_sales e
		WHERE e.sold <> (SELECT coalesce(sum(quantity), 0) FROM booking.tickets t WHERE t.event_id = e.event_id AND t.status = 'sold')`},
	{"a change has not exactly one event, or its event has other values",
		newEventQuery("booking.bookings", "'{payment,from}'") + ` UNION ALL ` +
			newEventQuery("booking.tickets", "'{payment}'") + ` UNION ALL ` + newEventQuery("rental.reservations",
			"'{payment,updated_at,counted}'")},
	{"a booking has no event, although its charge is open or not needed", `
		SELECT b.id || ': ' || b.status FROM booking.bookings b
		WHERE b.sequence = 0 AND NOT EXISTS (
			SELECT FROM booking.payments p
			WHERE p.business_id = b.business_id AND p.subject_id = b.id AND p.status IN ('creating', 'cancelling', 'cancelled'))`},
	{"the payment of a reservation differs between rental and booking", differingPayments},
	{"more rental units in use than there are", `
		SELECT a.rental_id || ' on ' || a.start_date || ': ' || sum(b.quantity)
		FROM rental.reservations a JOIN rental.reservations b ON b.rental_id = a.rental_id AND b.start_date = a.start_date
		 AND (a.starts_at IS NULL OR b.starts_at <= a.starts_at AND a.starts_at < b.ends_at)
		JOIN soak_rentals r ON r.rental = a.rental_id
		WHERE a.status <> 'cancelled' AND b.status <> 'cancelled'
		GROUP BY a.id, a.rental_id, a.start_date, r.quantity HAVING sum(b.quantity) > r.quantity`},
}

// newEventQuery returns a query that finds rows of a table that do not fit their events. A row does not fit its events
// in two cases: the number of events differs from the number of changes, or the newest event contains other values than
// the row.
//
// The argument `beside` is an SQL array of keys. The query ignores these keys, because events and rows store them in
// different forms. An online sale gets its first event when its charge is open; if the charge fails earlier, the sale
// has no event.
func newEventQuery(table, beside string) string {
	schema, _, _ := strings.Cut(table, ".")
	return fmt.Sprintf(`
		SELECT '%[1]s ' || s.id FROM %[1]s s
		WHERE s.sequence <> (SELECT count(*) FROM %[2]s.events e WHERE e.business_id = s.business_id AND e.subject_id = s.id)
		   OR s.sequence > 0 AND NOT EXISTS (SELECT FROM %[2]s.events e WHERE e.business_id = s.business_id AND e.subject_id = s.id AND e.sequence = s.sequence
		                  AND e.data - %[3]s::text[] = to_jsonb(s) - 'link_hash' - %[3]s::text[])`, table, schema, beside)
}

// tables reads the database after the clients have finished.
type tables struct{ conn *pgx.Conn }

func openTables(ctx context.Context, databaseURL string, all ...*business) (*tables, error) {
	conn, err := pgx.Connect(ctx, databaseURL)
	if err != nil {
		return nil, err
	}
	t := &tables{conn}
	_, err = conn.Exec(ctx, `
		CREATE TEMPORARY TABLE soak_services (service uuid PRIMARY KEY, before int, after int, capacity int);
		CREATE TEMPORARY TABLE soak_rentals (rental uuid PRIMARY KEY, quantity int)`)
	if err != nil {
		return t, err
	}
	for _, b := range all {
		for _, s := range b.services {
			if _, err := conn.Exec(ctx, "INSERT INTO soak_services VALUES ($1, $2, $3, $4)", s.id, s.before, s.after,
				s.capacity); err != nil {
				return t, err
			}
		}
		for _, r := range b.rentals {
			if _, err := conn.Exec(ctx, "INSERT INTO soak_rentals VALUES ($1, $2)", r.id, r.quantity); err != nil {
				return t, err
			}
		}
	}
	_, err = conn.Exec(ctx, "ANALYZE")
	return t, err
}

func (t *tables) close(ctx context.Context) { _ = t.conn.Close(ctx) }

// findViolations returns all violations of the rules.
func (t *tables) findViolations(ctx context.Context) ([]string, error) {
	var found []string
	for _, r := range rules {
		rows, err := t.conn.Query(ctx, r.query)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
		texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
		for _, text := range texts {
			found = append(found, r.name+": "+text)
		}
	}
	return found, nil
}

// row is the table row of an object that an operation created.
type row struct {
	ID       uuid.UUID
	Tag      string
	IsLive   bool
	Version  int64 // version of the offer on which the sale is based
	Start    string
	StaffID  *uuid.UUID
	Quantity int
}

// readRows returns the rows of all bookings, ticket orders and reservations, by the tag of the operation that created
// the object.
func (t *tables) readRows(ctx context.Context) (map[string][]row, error) {
	found, err := t.conn.Query(ctx, `
		SELECT id, customer_email, status <> 'cancelled', offer_version, to_char(local_start, 'YYYY-MM-DD HH24:MI:SS'), staff_id, party_size
		FROM booking.bookings
		UNION ALL SELECT id, customer_name, status <> 'cancelled', offer_version, '', NULL, quantity FROM booking.tickets
		UNION ALL SELECT id, customer_name, status <> 'cancelled', offer_version, '', NULL, quantity FROM rental.reservations`)
	if err != nil {
		return nil, err
	}
	all, err := pgx.CollectRows(found, pgx.RowToStructByPos[row])
	byTag := map[string][]row{}
	for _, r := range all {
		byTag[r.Tag] = append(byTag[r.Tag], r)
	}
	return byTag, err
}

// payment is the row of a charge.
type payment struct {
	SubjectID uuid.UUID
	Status    string
	Reference *string
	Amount    int64
	Refunded  int64
	IsLive    bool // the paid object is not cancelled
}

func (t *tables) readPayments(ctx context.Context) ([]payment, error) {
	found, err := t.conn.Query(ctx, `
		SELECT p.subject_id, p.status, p.reference, p.amount, p.refunded, s.status <> 'cancelled'
		FROM booking.payments p JOIN (
			SELECT business_id, id, status FROM booking.bookings UNION ALL SELECT business_id, id, status FROM booking.tickets
			UNION ALL SELECT business_id, id, status FROM rental.reservations) s ON s.business_id = p.business_id AND s.id = p.subject_id`)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, pgx.RowToStructByPos[payment])
}

// hastenPayments makes every payment that is not final due now, so that the services process these payments.
// hastenPayments returns the number of such payments in booking, plus the number of reservations in
// [differingPayments].
func (t *tables) hastenPayments(ctx context.Context) (int64, error) {
	tag, err := t.conn.Exec(ctx, `
		UPDATE booking.payments SET due_at = now() - interval '10 seconds'
		WHERE status IN ('creating', 'open', 'cancelling') OR refund_status = 'pending'`)
	if err != nil {
		return 0, err
	}
	var behind int64
	err = t.conn.QueryRow(ctx, "SELECT count(*) FROM ("+differingPayments+") AS behind").Scan(&behind)
	return tag.RowsAffected() + behind, err
}

// differingPayments selects the reservations whose payment in rental differs from the payment in booking. If a payment
// failed before booking received it, booking has no row for the payment.
const differingPayments = `
	SELECT r.id || ': ' || r.payment::text FROM rental.reservations r LEFT JOIN booking.payments p ON p.business_id = r.business_id AND p.subject_id = r.id
	WHERE r.payment IS NOT NULL AND (r.payment ->> 'status', (r.payment ->> 'amount')::bigint, (r.payment ->> 'refunded')::bigint)
	      IS DISTINCT FROM (coalesce(p.status, 'cancelled'), coalesce(p.amount, (r.payment ->> 'amount')::bigint), coalesce(p.refunded, 0))`

// readEditions returns the editions of all published offers, by slug and version.
func (t *tables) readEditions(ctx context.Context) (map[string]map[int64]edition, error) {
	rows, err := t.conn.Query(ctx, `SELECT b.slug, v.version, v.canonical::text FROM catalog.versions v JOIN catalog.businesses b ON b.id = v.business_id`)
	if err != nil {
		return nil, err
	}
	type stored struct {
		Slug    string
		Version int64
		Text    string
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[stored])
	if err != nil {
		return nil, err
	}
	editions := map[string]map[int64]edition{}
	for _, s := range all {
		var m struct {
			Overrides []struct{ Date string }
			Staff     []struct {
				Key    string
				Active *bool
			}
		}
		if err := json.Unmarshal([]byte(s.Text), &m); err != nil {
			return nil, err
		}
		e := edition{closedDates: map[string]bool{}}
		for _, o := range m.Overrides {
			e.closedDates[o.Date] = true
		}
		for _, member := range m.Staff {
			if member.Active != nil && !*member.Active {
				e.inactiveMember = member.Key
			}
		}
		if editions[s.Slug] == nil {
			editions[s.Slug] = map[int64]edition{}
		}
		editions[s.Slug][s.Version] = e
	}
	return editions, nil
}
