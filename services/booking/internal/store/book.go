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

// Details describe a booking in the form that its customer sees (interface.md §2). They name no
// person except the staff member. Therefore they may be stored as the answer for an idempotency key.
type Details struct {
	ID         uuid.UUID
	Status     state.State
	StartsAt   time.Time
	EndsAt     time.Time
	LocalStart time.Time // the business's local time, as UTC
	LocalEnd   time.Time
	Timezone   string // of the sale: an IANA name, or "" if it is not known
	Services   []SoldService
	StaffID    *uuid.UUID // nil: no staff member performs it
	StaffName  *string
	SessionID  *uuid.UUID // of the class session; nil for an appointment
	PartySize  int
	Total      int64 // minor units of Currency
	Currency   money.Currency
	Source     string
	// the hash of the customer's link (libs/sale/link); nil if the customer was anonymized
	LinkHash []byte `json:",omitempty"`

	IsPackage      bool
	StaffingMode   string // availability.StaffingPerService, or "" for one provider
	StaffRequested bool   // the customer asked for this staff member

	// Warnings are the rules for customers that the owner's booking or
	// reschedule breaks. The answer contains them; they are not stored.
	Warnings []booking.Warning `json:",omitempty"`
}

// Confirmation is the answer to the request that booked. If Replayed is true, it is the stored
// answer to an earlier request, and nothing was booked now.
type Confirmation struct {
	Details
	Payment  *PaymentDetails // nil: nothing is to be paid online
	Replayed bool            `json:"-"`
}

// PaymentDetails are the data with which the customer's browser pays. Amount is in minor units of
// the booking's currency.
type PaymentDetails struct {
	Provider     string
	Amount       int64
	Reference    string
	ClientSecret string
	CheckoutURL  string `json:",omitempty"` // the provider's page, instead of a client secret
}

// NewBooking is a booking to be written.
type NewBooking struct {
	Details
	BusinessID   uuid.UUID
	FirstBooking bool // priced as the customer's first booking
	Customer     Customer
	FormData     map[string]any // JSON values
	Locale       string         // the customer's language, one of the business's
	OfferVersion int64
	Now          time.Time

	// Parts are the resources and times that the booking occupies, buffers included.
	// Book writes all of them or none. Parts of one resource must not overlap.
	Parts []availability.Part

	// Capacity is the number of seats of the class session. A class booking takes PartySize
	// of them. The time of its Parts may overlap that of the session's other bookings.
	Capacity int

	// MostOpen is set for a booking from the business's booking page. It is the maximum number of open bookings that
	// the customer's e-mail address may have, with this booking. A booking is open if it is not cancelled and not over.
	MostOpen *int

	// Payment is set if the booking is paid online. Its charge is created after the booking is written.
	Payment *NewPayment

	// Lock is set if the request holds an idempotency lock. Book then stores the confirmation as the
	// answer for the key. For a booking that is paid online, [Store.OpenPayment] stores it later.
	Lock *IdempotencyLock

	// APIKey is the request's API key, which must still be valid when the booking is written; the nil
	// UUID means no key.
	APIKey uuid.UUID

	// Write is the identity of the write, derived from the client's idempotency key. It is
	// empty for a request without a key; [NewBooking.Named] then uses the booking's id.
	Write postgres.Write
}

// Named returns the identity of the write: from the idempotency
// key if the request has one, otherwise from the booking's id.
func (b *NewBooking) Named() postgres.Write {
	if b.Write.ID != uuid.Nil {
		return b.Write
	}
	return postgres.Write{Business: b.BusinessID, ID: b.ID, StartTime: b.Now}
}

// Customer is the person who booked.
type Customer struct {
	Name  string
	Email string
	Phone *string
}

// SoldService is one service of a booking as it was sold. Price is in minor units.
type SoldService struct {
	ID              uuid.UUID `json:"id"`
	Name            string    `json:"name"`
	VariantID       uuid.UUID `json:"variant_id,omitzero"`    // the nil UUID if no variant was chosen
	VariantName     string    `json:"variant_name,omitempty"` // "" if no variant was chosen
	DurationMinutes int       `json:"duration_minutes"`
	Price           int64     `json:"price"`
	// StaffID is the member who performs this service in a package with staff per service. If it
	// is nil, the booking's member performs the service, if there is one.
	StaffID *uuid.UUID `json:"staff_id,omitempty"`
	// people that Price covers, if the service is priced per person and there are several
	Quantity  int   `json:"quantity,omitempty"`
	UnitPrice int64 `json:"unit_price,omitempty"` // price of one person
	// PriceChanges are the pricing rules that changed Price.
	PriceChanges []booking.PriceChange `json:"price_changes,omitempty"`
	// of the package that all services were sold as, or ""
	PackageName string `json:"package_name,omitempty"`
}

// InPackage returns the names of services for display. If the services were sold as a package, it
// returns the name of the package, followed by the argument what in brackets. Otherwise it returns what.
func InPackage(services []SoldService, what string) string {
	if len(services) == 0 || services[0].PackageName == "" {
		return what
	}
	return services[0].PackageName + " (" + what + ")"
}

// toldColumns are the columns of a booking that its events contain. They are all columns except the hash of its link.
const toldColumns = `business_id, id, status, starts_at, ends_at, local_start, local_end, services, staff_id,
        staff_name, class_schedule_id, party_size, total, currency, first_booking, source, on_page, customer_name,
        customer_email, customer_phone, form_data, locale, offer_version,
        is_package, staffing_mode, staff_requested, sequence, created_at, updated_at, timezone`

// bookSQL writes a booking with its occupied time or seats, its event and its
// idempotency result, in one round trip. It writes all of them or nothing.
//
// It inserts the occupied time first, with ON CONFLICT DO NOTHING. Two plain INSERTs under
// an exclusion constraint could each see the other's index entry and deadlock. With ON
// CONFLICT, one statement waits for the other and then inserts nothing. Rows are inserted
// by resource and start, so that bookings of several resources wait in the same order.
//
// The booking is inserted only if all rows of occupied time were inserted. If only
// some rows were, or if another booking has become the customer's first one, the
// inserted rows have no booking. Their foreign key then fails the whole statement.
//
// A class booking raises the counter of seats of its session if the capacity allows it. Its seats are
// stored in a row with the same foreign key. Therefore the counter never includes seats without a booking.
//
// All statements acquire their locks in one order: idempotency lock, occupied time,
// counter, index of first bookings. For the booking page, the lock of the customer's
// address (in the SQL function may_open) is the last of them. Therefore a waiting statement
// never holds a lock that the statement before it still needs. moveSQL uses the same order.
//
// may_open runs after the booking is inserted. It fails the statement if the address has too many
// open bookings. may_write fails the statement if the write was refused in the meantime. may_sell
// acquires the last lock, and fails the statement if the offer or the API key is no longer valid.
// Therefore a request may be decided by a cached offer and key: this statement checks both.
//
// The subquery locked locks the idempotency record, so that no other request takes it over while the statement
// runs. If another request has already taken it over, locked returns no row and nothing is inserted.
var bookSQL = `
WITH locked AS MATERIALIZED (
    SELECT 1
    FROM idempotency_records
    WHERE business_id = @business_id AND principal = @principal AND idempotency_key = @idempotency_key
      AND token = @token AND confirmation IS NULL
    FOR UPDATE
), taken AS (
    INSERT INTO occupied_time (business_id, booking_id, part, resource_id, lane, during, holder)
    SELECT @business_id, @id, p.part, p.resource_id, p.lane, tstzrange(p.starts_at, p.ends_at),
           CASE WHEN @session_id::uuid IS NULL THEN @id::uuid ELSE '00000000-0000-0000-0000-000000000000' END
    FROM unnest(@resource_ids::uuid[], @lanes::integer[], @part_starts::timestamptz[], @part_ends::timestamptz[])
         WITH ORDINALITY AS p (resource_id, lane, starts_at, ends_at, part)
    WHERE @token::uuid IS NULL OR EXISTS (SELECT FROM locked)
    ORDER BY p.part
    ON CONFLICT DO NOTHING
    RETURNING 1
), counted AS (
    INSERT INTO class_sessions AS session (business_id, starts_at, session_id, taken)
    SELECT @business_id, @starts_at, @session_id, @party_size
    WHERE @session_id::uuid IS NOT NULL AND @party_size::integer <= @capacity::integer
      AND (SELECT count(*) FROM taken) = cardinality(@resource_ids::uuid[])
      AND (@token::uuid IS NULL OR EXISTS (SELECT FROM locked))
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
           @now::timestamptz, @now::timestamptz, @timezone, @link_hash
    WHERE (SELECT count(*) FROM taken) = cardinality(@resource_ids::uuid[])
      AND (@session_id::uuid IS NULL OR EXISTS (SELECT FROM counted))
      AND (@token::uuid IS NULL OR EXISTS (SELECT FROM locked))
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
    UPDATE idempotency_records
    SET confirmation = @confirmation
    WHERE business_id = @business_id AND principal = @principal AND idempotency_key = @idempotency_key
      AND token = @token AND EXISTS (SELECT FROM booked)
)
SELECT EXISTS (SELECT FROM booked), @token::uuid IS NULL OR EXISTS (SELECT FROM locked),
       CASE WHEN @most_open::integer IS NOT NULL AND EXISTS (SELECT FROM booked)
            THEN may_open(@business_id, @id, @customer_email, @now::timestamptz, @most_open::integer) END,
       may_write(@business_id, @write_id, @begun) AND may_sell(@business_id, @offer_version, @api_key)`

var bookStatement = positional(bookSQL)

// SQLSTATE codes with which may_open and may_sell fail a statement.
const (
	tooManyOpen  = "SM002"
	offerChanged = "SM003"
	keyRevoked   = "SM004"
)

// Book writes the booking, its occupied time or seats, and the
// confirmation for its idempotency key. It writes all of them or nothing.
//
// Errors: [ErrTaken], [ErrTooManyOpen], [ErrOfferChanged], [ErrKeyRevoked], [ErrLockLost], [postgres.ErrRefused].
// After the fault outcome_unknown, the booking may have been written; after any other error nothing is written.
func (s *Store) Book(ctx context.Context, b NewBooking) error {
	write := b.Named()
	args, err := bookArgs(b)
	if err != nil {
		return err
	}
	args["write_id"], args["begun"] = write.ID, write.StartTime
	eventlog.Add(ctx, args, b.Now)
	return write.Run(ctx, s.pool, func(ctx context.Context, conn *pgxpool.Conn) error {
		var (
			booked, held, may bool
			open              *bool
		)
		err := conn.QueryRow(ctx, bookStatement.text, bookStatement.values(args)...).Scan(&booked, &held, &open, &may)
		switch {
		case postgres.Code(err) == tooManyOpen:
			return ErrTooManyOpen
		case postgres.Code(err) == offerChanged:
			return ErrOfferChanged
		case postgres.Code(err) == keyRevoked:
			return ErrKeyRevoked
		case postgres.Code(err) == postgres.ForeignKeyViolation:
			return ErrTaken
		case err != nil:
			return fmt.Errorf("write a booking: %w", err)
		case !held:
			return ErrLockLost
		case !booked:
			return ErrTaken
		}
		return nil
	}, exists(`SELECT EXISTS (SELECT FROM bookings WHERE business_id = $1 AND id = $2)`, b.BusinessID, b.ID))
}

// exists returns a function that runs the query sql, a SELECT EXISTS, in a transaction and returns its result.
func exists(sql string, args ...any) func(context.Context, pgx.Tx) (bool, error) {
	return func(ctx context.Context, tx pgx.Tx) (bool, error) {
		var there bool
		err := tx.QueryRow(ctx, sql, args...).Scan(&there)
		return there, err
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
		"source": b.Source, "most_open": b.MostOpen, "customer_name": b.Customer.Name,
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
	addParts(args, b.Parts)
	charge := addPayment(args, b.Payment)
	var kept *Confirmation
	if b.Payment == nil {
		kept = &Confirmation{Details: b.Details}
	}
	lock = addLock(args, b.Lock, kept)
	return args, errors.Join(services, form, charge, lock)
}

// addLock adds to args the idempotency lock and the confirmation that is stored for it. Both may be nil.
func addLock(args pgx.NamedArgs, c *IdempotencyLock, confirmation *Confirmation) error {
	args["principal"], args["idempotency_key"], args["token"], args["confirmation"] = nil, nil, nil, nil
	if c == nil {
		return nil
	}
	args["principal"], args["idempotency_key"], args["token"] = c.Principal, c.Key, c.Token
	if confirmation == nil {
		return nil
	}
	var err error
	args["confirmation"], err = json.Marshal(confirmation)
	return err
}

// addParts adds the parts to args, one array for each column.
// The parts are in the order in which the statement locks them.
func addParts(args pgx.NamedArgs, parts []availability.Part) {
	sorted := slices.SortedFunc(slices.Values(parts), func(a, b availability.Part) int {
		return cmp.Or(
			slices.Compare(a.Resource.ID[:], b.Resource.ID[:]),
			cmp.Compare(a.Resource.Lane, b.Resource.Lane),
			cmp.Compare(a.Occupies.Start, b.Occupies.Start),
		)
	})
	var (
		ids          = make([]uuid.UUID, len(sorted))
		lanes        = make([]int32, len(sorted))
		starts, ends = make([]time.Time, len(sorted)), make([]time.Time, len(sorted))
	)
	for i, p := range sorted {
		ids[i], lanes[i] = p.Resource.ID, int32(p.Resource.Lane)
		starts[i], ends[i] = time.Unix(p.Occupies.Start, 0), time.Unix(p.Occupies.End, 0)
	}
	args["resource_ids"], args["lanes"], args["part_starts"], args["part_ends"] = ids, lanes, starts, ends
}

// WallClock returns the local time in loc at t, written as UTC. The columns store it as a timestamp without time zone.
func WallClock(t time.Time, loc *time.Location) time.Time {
	local := t.In(loc)
	_, offset := local.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}
