package store

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
)

// Details contains the data of a booking that the answer to POST /book shows to the
// customer (interface.md §2). The only name of a person in Details is the name of the
// staff member. Therefore Details may be stored as the answer for an idempotency key.
type Details struct {
	ID         uuid.UUID
	Status     state.State
	StartsAt   time.Time
	EndsAt     time.Time
	LocalStart time.Time // the local time of the business, stored as UTC
	LocalEnd   time.Time
	Timezone   string // the time zone of the sale as an IANA name; "" if it is unknown
	Services   []SoldService
	StaffID    *uuid.UUID // nil: the booking has no staff member
	StaffName  *string
	SessionID  *uuid.UUID // the id of the class session; nil for an appointment
	PartySize  int
	Total      int64 // minor units of Currency
	Currency   money.Currency
	Source     string
	// LinkHash is the hash of the customer's link (libs/sale/link). It is nil if the customer was anonymized.
	LinkHash []byte `json:",omitempty"`

	IsPackage      bool
	StaffingMode   string // availability.StaffingPerService, or "" for one staff member
	StaffRequested bool   // true: the customer asked for the staff member StaffID

	// Location is the place of the booking. It is nil if the business has no locations.
	Location *Location `json:",omitempty"`

	// Warnings are the rules for customers that the owner's booking or reschedule breaks. The
	// answer to the owner contains the warnings, but they are not stored with the booking.
	Warnings []booking.Warning `json:",omitempty"`
}

// Confirmation is the answer to a request to book. If IsRepeated is true, Confirmation is
// the stored answer to an earlier request, and the current request has booked nothing.
type Confirmation struct {
	Details
	Payment    *PaymentDetails // nil: no online payment is necessary
	IsRepeated bool            `json:"-"`
}

// PaymentDetails are the data that the customer's browser needs
// to pay. Amount is in minor units of the booking's currency.
type PaymentDetails struct {
	Provider     string
	Amount       int64
	Reference    string
	ClientSecret string
	CheckoutURL  string `json:",omitempty"` // the URL of the provider's page; it replaces ClientSecret
}

// NewBooking is the argument of [Store.Book]: a booking and the conditions for its write.
type NewBooking struct {
	Details
	BusinessID   uuid.UUID
	FirstBooking bool // true: the price is that of the customer's first booking
	Customer     Customer
	FormData     map[string]any // JSON values
	Locale       string         // the customer's language; one of the business's languages
	OfferVersion int64
	Now          time.Time

	// Parts are the resources and times that the booking occupies, buffers included.
	// Book stores all parts or none. The parts of one resource must not overlap.
	Parts []availability.Part
	// ChangeMinutes is the time that a staff member needs to change the location. It is 0 without Location.
	ChangeMinutes int

	// Capacity is the number of seats of the class session. A class booking takes PartySize
	// of these seats. The Parts of a class booking may overlap the Parts of other bookings of the session.
	Capacity int

	// MaxOpen is set only for a booking from the booking page. It is the maximum number of open
	// bookings, orders of tickets and reservations of the customer's e-mail address, including
	// this booking. A booking, order or reservation is open if it is neither cancelled nor over.
	MaxOpen *int

	// Payment is set if the booking must be paid online. The provider creates the charge after the booking is stored.
	Payment *NewPayment

	// Lock is set if the request holds an idempotency lock. Book then stores the confirmation as the answer
	// for the key. If the booking must be paid online, [Store.OpenPayment] stores the confirmation instead.
	Lock *postgres.Lock

	// APIKey is the id of the API key of the request. The key must still be valid when
	// the booking is written. The nil UUID means that the request has no API key.
	APIKey uuid.UUID
}

// WriteIdentity returns the identity of the write of the booking. The identity is derived from the
// idempotency key. If the request has no key, the identity is derived from the id of the booking.
func (b *NewBooking) WriteIdentity() postgres.Write {
	if b.Lock != nil {
		return b.Lock.Write
	}
	return postgres.Write{Business: b.BusinessID, ID: b.ID, StartTime: b.Now}
}

// Customer contains the contact data of the customer of a booking.
type Customer struct {
	Name  string
	Email string
	Phone *string
	// Address is the address at which the booking takes place. It is nil except for the kind customer_address.
	Address *booking.CustomerAddress
}

// SoldService is one service of a booking as it was sold. Price
// and UnitPrice are in minor units of the booking's currency.
type SoldService struct {
	ID              uuid.UUID `json:"id"`
	Name            string    `json:"name"`
	VariantID       uuid.UUID `json:"variant_id,omitzero"`    // the nil UUID if no variant was chosen
	VariantName     string    `json:"variant_name,omitempty"` // "" if no variant was chosen
	DurationMinutes int       `json:"duration_minutes"`
	Price           int64     `json:"price"`
	// StaffID is the staff member of this service in a package with staff per service.
	// If StaffID is nil, the staff member of the booking serves this service.
	StaffID *uuid.UUID `json:"staff_id,omitempty"`
	// Quantity is the number of persons that Price covers. Quantity is set only if
	// the service is priced per person and the party is larger than one person.
	Quantity  int   `json:"quantity,omitempty"`
	UnitPrice int64 `json:"unit_price,omitempty"` // the price of one person; set with Quantity
	// PriceChanges are the pricing rules that changed Price.
	PriceChanges []booking.PriceChange `json:"price_changes,omitempty"`
	// PackageName is the name of the package if all services of
	// the booking were sold as one package; otherwise it is "".
	PackageName string `json:"package_name,omitempty"`
}

// AddPackageName adds the name of the package to a text for display. If the services were
// sold as a package, it returns the name of the package, followed by the argument `what`
// in parentheses. If there is no package, AddPackageName returns the argument `what` unchanged.
func AddPackageName(services []SoldService, what string) string {
	if len(services) == 0 || services[0].PackageName == "" {
		return what
	}
	return services[0].PackageName + " (" + what + ")"
}

// toldColumns are the columns of the table bookings that an event
// contains: all columns except the hash of the customer's link.
const toldColumns = `business_id, id, status, starts_at, ends_at, local_start, local_end, services, staff_id,
        staff_name, class_schedule_id, party_size, total, currency, first_booking, source, on_page, customer_name,
        customer_email, customer_phone, form_data, locale, offer_version,
        is_package, staffing_mode, staff_requested, sequence, created_at, updated_at, timezone, location, customer_address`

// These SQL texts insert the parts that addParts adds to the parameters. If a booking has
// no location, the arrays of stays are empty, and unnest then returns null for each stay.
const (
	unnestParts = `unnest(@resource_ids::uuid[], @lanes::integer[], @part_starts::timestamptz[], @part_ends::timestamptz[],
                @stay_starts::timestamptz[], @stay_ends::timestamptz[])
         WITH ORDINALITY AS p (resource_id, lane, starts_at, ends_at, stay_starts_at, stay_ends_at, part)`
	stayColumns = `location_id, stay, change_minutes`
	stayValues  = `CASE WHEN p.stay_starts_at IS NOT NULL THEN @location_id::uuid END,
           CASE WHEN p.stay_starts_at IS NOT NULL THEN tstzrange(p.stay_starts_at, p.stay_ends_at) END,
           CASE WHEN p.stay_starts_at IS NOT NULL THEN @change_minutes::integer END`
)

// bookSQL stores a booking with its occupied time or seats, its event and its
// idempotency result, in one round trip. It stores all of them or nothing.
//
// Occupied time: bookSQL inserts the occupied time first, with ON CONFLICT DO NOTHING. Without this clause, two
// concurrent INSERTs under an exclusion constraint could each wait for the other's index entry and deadlock. With
// this clause, one statement waits for the other statement and then inserts nothing. bookSQL inserts the rows in
// the order of resource and start, so that concurrent statements lock several resources in the same order.
//
// Booking: bookSQL inserts the booking only if it inserted all rows of occupied time. If bookSQL inserted
// only some rows, these rows have no booking. The foreign key of these rows then fails the whole statement.
// The same happens if the price is for a first booking and the customer already has a first booking.
//
// Classes: a class booking raises the counter of taken seats of its session if the
// capacity allows it. The seats of the booking are also stored in a row with the
// same foreign key. Therefore the counter never includes seats without a booking.
//
// Locks: bookSQL acquires its locks in this order: idempotency lock, occupied time, counter of seats, index of
// first bookings, and the lock of the customer's address. Only a booking from the booking page needs the lock of
// the address, which the SQL function may_open acquires. Because of this order, concurrent runs of bookSQL do not
// deadlock. transitionSQL and rescheduleSQL also acquire the counter of seats before the index of first bookings.
//
// Checks: may_open runs after the booking is inserted, and fails the statement if the address has
// too many open bookings. may_write fails the statement if the write was refused in the meantime.
// may_sell acquires the last lock, and fails the statement if the offer or the API key is no longer
// valid. Therefore the caller may use a cached offer and a cached API key to decide a request.
//
// The subquery `locked` locks the row of the idempotency lock, so that no other request can
// acquire the idempotency lock while the statement runs. If another request has
// already acquired it, the subquery returns no row, and bookSQL inserts nothing.
var bookSQL = `
WITH ` + lockedRow + `, taken AS (
    INSERT INTO occupied_time (business_id, booking_id, part, resource_id, lane, during, holder, ` + stayColumns + `)
    SELECT @business_id, @id, p.part, p.resource_id, p.lane, tstzrange(p.starts_at, p.ends_at),
           CASE WHEN @session_id::uuid IS NULL THEN @id::uuid ELSE '00000000-0000-0000-0000-000000000000' END,
           ` + stayValues + `
    FROM ` + unnestParts + `
    WHERE @locked_at::timestamptz IS NULL OR EXISTS (SELECT FROM locked)
    ORDER BY p.part
    ON CONFLICT DO NOTHING
    RETURNING 1
), counted AS (
    INSERT INTO class_sessions AS session (business_id, starts_at, session_id, taken)
    SELECT @business_id, @starts_at, @session_id, @party_size
    WHERE @session_id::uuid IS NOT NULL AND @party_size::integer <= @capacity::integer
      AND (SELECT count(*) FROM taken) = cardinality(@resource_ids::uuid[])
      AND (@locked_at::timestamptz IS NULL OR EXISTS (SELECT FROM locked))
    ON CONFLICT (business_id, starts_at, session_id)
        DO UPDATE SET taken = session.taken + excluded.taken WHERE session.taken + excluded.taken <= @capacity
    RETURNING 1
), seated AS (
    INSERT INTO class_seats (business_id, booking_id, starts_at, session_id, seats)
    SELECT @business_id, @id, @starts_at, @session_id, @party_size
    FROM counted
), booked AS (
    INSERT INTO bookings (` + toldColumns + `, link_hash)
    SELECT @business_id, @id, @status, @starts_at, @ends_at, @local_start, @local_end, @services, @staff_id,
           @staff_name, @session_id, @party_size, @total, @currency, @first_booking, @source, @most_open::integer IS NOT NULL, @customer_name,
           @customer_email, @customer_phone, @form_data, @locale, @offer_version,
           @is_package, @staffing_mode, @staff_requested, CASE WHEN @provider::text IS NULL THEN 1 ELSE 0 END,
           @now::timestamptz, @now::timestamptz, @timezone, @location::jsonb, @customer_address::jsonb, @link_hash
    WHERE (SELECT count(*) FROM taken) = cardinality(@resource_ids::uuid[])
      AND (@session_id::uuid IS NULL OR EXISTS (SELECT FROM counted))
      AND (@locked_at::timestamptz IS NULL OR EXISTS (SELECT FROM locked))
    ON CONFLICT DO NOTHING
    RETURNING ` + toldColumns + `, withdrawn, NULL::jsonb AS payment
), charged AS (
    INSERT INTO payments (business_id, subject_kind, subject_id, status, provider, account, amount, currency, cancellation_policy, due_at,
                          on_checkout, confirms, created_at, updated_at)
    SELECT @business_id, 'booking', @id, 'creating', @provider::text, @account::text, @amount::bigint, @currency,
           @cancellation_policy::jsonb, @due_at::timestamptz, @on_checkout::boolean, @confirms::boolean,
           @now::timestamptz, @now::timestamptz
    WHERE @provider::text IS NOT NULL AND EXISTS (SELECT FROM booked)
    RETURNING *
), recorded AS (
    ` + recordCreated + `
), answered AS (
    ` + storeConfirmation + ` AND EXISTS (SELECT FROM booked)
)
SELECT EXISTS (SELECT FROM booked), @locked_at::timestamptz IS NULL OR EXISTS (SELECT FROM locked),
       CASE WHEN @most_open::integer IS NOT NULL AND EXISTS (SELECT FROM booked)
            THEN may_open(@business_id, @id, @customer_email, @now::timestamptz, @most_open::integer) END,
       may_write(@business_id, @write_id, @begun) AND may_sell(@business_id, @offer_version, @api_key)`

var bookStatement = newStatement(bookSQL)

// These are the SQLSTATE codes of the errors that the SQL functions may_open and may_sell raise to fail a statement.
const (
	tooManyOpen  = "SM002"
	offerChanged = "SM003"
	keyRevoked   = "SM004"
)

// Book stores the booking, its occupied time or seats, and the
// confirmation for its idempotency key. It stores all of them or nothing.
//
// Errors: [ErrOccupied], [ErrTooManyOpen], [ErrOfferChanged], [ErrKeyRevoked], [ErrLockLost], [postgres.ErrRefused].
// Faults: location_not_found if the actor may not use the location ([actor.Locations]);
// outcome_unknown if Book does not know whether the booking is stored. After any other error, nothing is stored.
func (s *Store) Book(ctx context.Context, b NewBooking) error {
	if err := checkLocation(ctx, b.Location); err != nil {
		return err
	}
	write := b.WriteIdentity()
	args, err := bookArgs(b)
	if err != nil {
		return err
	}
	args["write_id"], args["begun"] = write.ID, write.StartTime
	eventlog.Add(ctx, args, b.Now)
	return write.Run(ctx, s.pool, func(ctx context.Context, conn *pgxpool.Conn) error {
		var (
			booked, held, isAllowed bool
			open                    *bool
		)
		err := conn.QueryRow(ctx, bookStatement.text, bookStatement.values(args)...).Scan(&booked, &held, &open,
			&isAllowed)
		switch {
		case postgres.Code(err) == tooManyOpen:
			return ErrTooManyOpen
		case postgres.Code(err) == offerChanged:
			return ErrOfferChanged
		case postgres.Code(err) == keyRevoked:
			return ErrKeyRevoked
		case postgres.Code(err) == postgres.ForeignKeyViolation:
			return ErrOccupied
		case err != nil:
			return fmt.Errorf("write a booking: %w", err)
		case !held:
			return ErrLockLost
		case !booked:
			return ErrOccupied
		}
		return nil
	}, newExistsQuery(`SELECT EXISTS (SELECT FROM bookings WHERE business_id = $1 AND id = $2)`, b.BusinessID, b.ID))
}

// newExistsQuery returns a function that runs a query SELECT EXISTS in a transaction and returns the result of the
// query.
func newExistsQuery(sql string, args ...any) func(context.Context, pgx.Tx) (bool, error) {
	return func(ctx context.Context, tx pgx.Tx) (bool, error) {
		var ok bool
		err := tx.QueryRow(ctx, sql, args...).Scan(&ok)
		return ok, err
	}
}

func bookArgs(b NewBooking) (pgx.NamedArgs, error) {
	args := pgx.NamedArgs{
		"business_id": b.BusinessID, "id": b.ID, "status": string(b.Status),
		"starts_at": b.StartsAt, "ends_at": b.EndsAt, "local_start": b.LocalStart, "local_end": b.LocalEnd,
		"timezone": b.Timezone,
		"staff_id": b.StaffID, "staff_name": b.StaffName, "session_id": b.SessionID, "capacity": b.Capacity,
		"is_package": b.IsPackage, "staffing_mode": b.StaffingMode, "staff_requested": b.StaffRequested,
		"party_size": b.PartySize, "total": b.Total, "currency": b.Currency.Code, "first_booking": b.FirstBooking,
		"source": b.Source, "most_open": b.MaxOpen, "customer_name": b.Customer.Name,
		"customer_email": b.Customer.Email,
		"customer_phone": b.Customer.Phone, "locale": b.Locale, "offer_version": b.OfferVersion,
		"link_hash": b.LinkHash, "now": b.Now,
	}
	args["api_key"] = nil
	if b.APIKey != uuid.Nil {
		args["api_key"] = b.APIKey
	}
	var services, form, lock error
	args["services"], services = json.Marshal(b.Services)
	args["form_data"], form = json.Marshal(b.FormData)
	location := addLocation(args, b.Location, b.Customer.Address)
	addParts(args, b.Parts, b.Location, b.ChangeMinutes, b.StartsAt, b.EndsAt)
	charge := addPayment(args, b.Payment)
	var stored *Confirmation
	if b.Payment == nil {
		stored = &Confirmation{Details: b.Details}
	}
	lock = addLock(args, b.Lock, stored)
	return args, errors.Join(services, form, location, charge, lock)
}

// addLock adds the idempotency lock `l`, and the confirmation for the key of the lock,
// to the SQL parameters `args`. The arguments `l` and `confirmation` may be nil.
func addLock(args pgx.NamedArgs, l *postgres.Lock, confirmation *Confirmation) error {
	args["locked_at"], args["confirmation"] = nil, nil
	if l == nil {
		return nil
	}
	args["locked_at"] = l.AcquiredAt
	if confirmation == nil {
		return nil
	}
	var err error
	args["confirmation"], err = json.Marshal(confirmation)
	return err
}

// addParts adds the parts of a booking to the SQL parameters `args`, with one array for each column.
// It sorts the parts by resource and start, so that all statements lock resources in the same order.
//
// If the argument `at` is not nil, addParts also adds the time for which each staff member stays at this location.
// This time is the time of the services and `changeMinutes` after it. The booking is from `start` to `end`.
func addParts(args pgx.NamedArgs, parts []availability.Part, at *Location, changeMinutes int, start, end time.Time) {
	sorted := slices.SortedFunc(slices.Values(parts), func(a, b availability.Part) int {
		return cmp.Or(
			slices.Compare(a.Resource.ID[:], b.Resource.ID[:]),
			cmp.Compare(a.Resource.CapacityUnit, b.Resource.CapacityUnit),
			cmp.Compare(a.Occupies.Start, b.Occupies.Start),
		)
	})
	var (
		ids          = make([]uuid.UUID, len(sorted))
		lanes        = make([]int32, len(sorted))
		starts, ends = make([]time.Time, len(sorted)), make([]time.Time, len(sorted))
		from, until  []*time.Time // nil for a part without a stay
	)
	for i, p := range sorted {
		ids[i], lanes[i] = p.Resource.ID, int32(p.Resource.CapacityUnit)
		starts[i], ends[i] = time.Unix(p.Occupies.Start, 0), time.Unix(p.Occupies.End, 0)
		if at == nil {
			continue
		}
		from, until = append(from, nil), append(until, nil)
		if served, ok := findStay(p.Resource.CapacityUnit, p.Occupies, start, end); ok {
			change := int64(changeMinutes) * 60
			from[i], until[i] = new(time.Unix(served.Start, 0)), new(time.Unix(served.End+change, 0))
		}
	}
	args["resource_ids"], args["lanes"], args["part_starts"], args["part_ends"] = ids, lanes, starts, ends
	args["stay_starts"], args["stay_ends"], args["change_minutes"] = from, until, changeMinutes
	args["location_id"] = nil
	if at != nil {
		args["location_id"] = at.ID
	}
}

// addLocation adds the location of a booking and the customer's address to the SQL parameters `args`. Both may be nil.
func addLocation(args pgx.NamedArgs, at *Location, address *booking.CustomerAddress) error {
	args["location"], args["customer_address"] = nil, nil
	var errLocation, errAddress error
	if at != nil {
		args["location"], errLocation = json.Marshal(at)
	}
	if address != nil {
		args["customer_address"], errAddress = json.Marshal(address)
	}
	return errors.Join(errLocation, errAddress)
}

// WallClock returns the local time of the instant `t` in the time zone `loc`, as a [time.Time]
// in UTC. The store writes the result to a column of type timestamp without time zone.
func WallClock(t time.Time, loc *time.Location) time.Time {
	local := t.In(loc)
	_, offset := local.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}
