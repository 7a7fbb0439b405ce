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

	"github.com/slotmesh/slotmesh/libs/eventlog"
	"github.com/slotmesh/slotmesh/libs/money"
	"github.com/slotmesh/slotmesh/libs/peer/availability"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/postgres"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
)

// Details are what was booked, as it was told to the customer (interface.md §2). They name nobody but the staff member, so that
// they may be kept for an idempotency key.
type Details struct {
	ID         uuid.UUID
	Status     state.State
	StartsAt   time.Time
	EndsAt     time.Time
	LocalStart time.Time // what the business's wall clock shows then, written as UTC
	LocalEnd   time.Time
	Timezone   string // in which it was sold: an IANA name, or "" where that is not known
	Services   []SoldService
	StaffID    *uuid.UUID // nil: no staff member performs it
	StaffName  *string
	SessionID  *uuid.UUID // of a class session, which starts when the booking does; nil for an appointment
	PartySize  int
	Total      int64 // minor units of Currency
	Currency   money.Currency
	Source     string
	LinkHash   []byte `json:",omitempty"` // what is kept of the customer's link (libs/link); nil where the customer was forgotten

	IsPackage      bool
	StaffingMode   string // availability.StaffingPerService, or "" for one provider
	StaffRequested bool   // the customer asked for this member, not for anybody who is free

	// Warnings are the rules for customers that the owner's booking or reschedule breaks. Only the answer has them.
	Warnings []booking.Warning `json:",omitempty"`
}

// Confirmation is the answer to who booked. Replayed says that it is the stored answer to an earlier request, and that nothing
// was booked now.
type Confirmation struct {
	Details
	Payment  *PaymentDetails // nil: nothing is to be paid online
	Replayed bool            `json:"-"`
}

// PaymentDetails are what the customer's browser pays by. Amount is in minor units of the booking's currency.
type PaymentDetails struct {
	Provider     string
	Amount       int64
	Reference    string
	ClientSecret string
	CheckoutURL  string `json:",omitempty"` // the provider's own page, in place of a client secret
}

// NewBooking is a booking to write.
type NewBooking struct {
	Details
	BusinessID   uuid.UUID
	FirstBooking bool // priced as the customer's first
	Customer     Customer
	FormData     map[string]any // JSON values
	Locale       string         // the customer's language, one of the business's
	OfferVersion int64
	Now          time.Time

	// Parts is what the booking occupies, buffers included: all of it or nothing. Parts of one resource do not overlap.
	Parts []availability.Part

	// Capacity is the class session's: of a class, PartySize seats are taken, and Parts are held together with its other guests.
	Capacity int

	// MostOpen is set where it is made on the business's booking page: how many bookings made there, this one included, the customer's
	// address may have open, not cancelled and not over.
	MostOpen *int

	// Payment is set when it is paid online: its charge is created once the booking is written.
	Payment *NewPayment

	// Claim is set when the request holds an idempotency key. The confirmation is then kept for it; of a booking that is paid online
	// that is for [Store.OpenPayment] to do.
	Claim *Claim

	// APIKey is the key that was shown, which must count still when the booking is written; the nil UUID for none.
	APIKey uuid.UUID

	// Write is what the client named by its idempotency key; without one it is the booking itself.
	Write postgres.Write
}

// Named is the write of the booking, whoever gave it its name.
func (b *NewBooking) Named() postgres.Write {
	if b.Write.ID != uuid.Nil {
		return b.Write
	}
	return postgres.Write{Business: b.BusinessID, ID: b.ID, Begun: b.Now}
}

// Customer is who booked.
type Customer struct {
	Name  string
	Email string
	Phone *string
}

// SoldService is one service of a booking as it was sold; Price is in minor units.
type SoldService struct {
	ID              uuid.UUID `json:"id"`
	Name            string    `json:"name"`
	VariantID       uuid.UUID `json:"variant_id,omitzero"`    // the nil UUID for the service itself
	VariantName     string    `json:"variant_name,omitempty"` // "" for the service itself
	DurationMinutes int       `json:"duration_minutes"`
	Price           int64     `json:"price"`
	// StaffID is the member who performs it in a package with staff per service; nil: the booking's, or none.
	StaffID   *uuid.UUID `json:"staff_id,omitempty"`
	Quantity  int        `json:"quantity,omitempty"`   // people that Price is of, where it is per person and there are several
	UnitPrice int64      `json:"unit_price,omitempty"` // of one of them
	// PriceChanges are the pricing rules that changed Price.
	PriceChanges []booking.PriceChange `json:"price_changes,omitempty"`
	PackageName  string                `json:"package_name,omitempty"` // of the package that all services were sold as, or ""
}

// InPackage returns the name of the package that the services were sold as, and what they are in brackets; what alone for
// single services.
func InPackage(services []SoldService, what string) string {
	if len(services) == 0 || services[0].PackageName == "" {
		return what
	}
	return services[0].PackageName + " (" + what + ")"
}

// toldColumns are those of a booking but for the hash of its link, which no event keeps.
const toldColumns = `business_id, id, status, starts_at, ends_at, local_start, local_end, services, staff_id,
        staff_name, class_schedule_id, party_size, total, currency, first_booking, source, on_page, customer_name,
        customer_email, customer_phone, form_data, locale, offer_version,
        is_package, staffing_mode, staff_requested, sequence, created_at, updated_at, timezone`

// bookSQL writes a whole booking in one round trip.
//
// Occupied time comes first. Under an exclusion constraint, plain INSERTs that conflict can each see the other's index
// entry and wait for one another until the deadlock detector shoots one; ON CONFLICT DO NOTHING inserts speculatively:
// one waits for the other's outcome and then inserts nothing. Rows go in by resource and start, so that bookings of
// several resources wait in one order. The number of rows that went in decides whether there is a booking. Where only
// some did, or where another booking is the customer's first by now, the rows are left without a booking, their foreign
// key fails and the statement with it: never a half.
//
// A class booking raises its session's counter where the capacity allows. The seats it took are a row under the same
// foreign key, so that the counter never keeps what no booking has.
//
// All statements take their locks in one order: claim, occupied time, counter, the index of first bookings, and on the booking
// page the customer's address, by may_open. So whoever waits at one of them holds nothing that those ahead of it still need (moveSQL
// keeps to it, too). may_open is asked once the booking is in, and fails the statement where that is one too many.
//
// may_write fails the statement of an attempt that was refused meanwhile, and may_sell, which takes the last of the locks, one by an offer
// or an API key that no longer counts: what a decision was made by need not be asked for anew, as it is looked at here.
//
// claim locks the idempotency record, so that nobody takes it over while this statement runs, and yields no row when
// somebody has: then nothing is inserted.
var bookSQL = `
WITH claim AS MATERIALIZED (
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
    WHERE @token::uuid IS NULL OR EXISTS (SELECT FROM claim)
    ORDER BY p.part
    ON CONFLICT DO NOTHING
    RETURNING 1
), counted AS (
    INSERT INTO class_sessions AS session (business_id, starts_at, session_id, taken)
    SELECT @business_id, @starts_at, @session_id, @party_size
    WHERE @session_id::uuid IS NOT NULL AND @party_size::integer <= @capacity::integer
      AND (SELECT count(*) FROM taken) = cardinality(@resource_ids::uuid[])
      AND (@token::uuid IS NULL OR EXISTS (SELECT FROM claim))
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
      AND (@token::uuid IS NULL OR EXISTS (SELECT FROM claim))
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
SELECT EXISTS (SELECT FROM booked), @token::uuid IS NULL OR EXISTS (SELECT FROM claim),
       CASE WHEN @most_open::integer IS NOT NULL AND EXISTS (SELECT FROM booked)
            THEN may_open(@business_id, @id, @customer_email, @now::timestamptz, @most_open::integer) END,
       may_write(@business_id, @write_id, @begun) AND may_sell(@business_id, @offer_version, @api_key)`

var bookStatement = positional(bookSQL)

// The SQLSTATE by which may_open and may_sell fail a statement.
const (
	tooManyOpen  = "SM002"
	offerChanged = "SM003"
	keyRevoked   = "SM004"
)

// Book writes the booking, its occupied time or seats, and the answer to its idempotency key, or nothing. Errors: [ErrTaken],
// [ErrTooManyOpen], [ErrOfferChanged], [ErrKeyRevoked], [ErrClaimLost], [postgres.ErrRefused]; a fault of kind outcome_unknown, after any other nothing is written.
func (s *Store) Book(ctx context.Context, b NewBooking) error {
	write := b.Named()
	args, err := bookArgs(b)
	if err != nil {
		return err
	}
	args["write_id"], args["begun"] = write.ID, write.Begun
	eventlog.Add(ctx, args, b.Now)
	return write.Make(ctx, s.pool, func(ctx context.Context, conn *pgxpool.Conn) error {
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
			return ErrClaimLost
		case !booked:
			return ErrTaken
		}
		return nil
	}, exists(`SELECT EXISTS (SELECT FROM bookings WHERE business_id = $1 AND id = $2)`, b.BusinessID, b.ID))
}

// exists asks whether a row is there.
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
		"starts_at": b.StartsAt, "ends_at": b.EndsAt, "local_start": b.LocalStart, "local_end": b.LocalEnd, "timezone": b.Timezone,
		"staff_id": b.StaffID, "staff_name": b.StaffName, "session_id": b.SessionID, "capacity": b.Capacity,
		"is_package": b.IsPackage, "staffing_mode": b.StaffingMode, "staff_requested": b.StaffRequested,
		"party_size": b.PartySize, "total": b.Total, "currency": b.Currency.Code, "first_booking": b.FirstBooking,
		"source": b.Source, "most_open": b.MostOpen, "customer_name": b.Customer.Name, "customer_email": b.Customer.Email,
		"customer_phone": b.Customer.Phone, "locale": b.Locale, "offer_version": b.OfferVersion, "link_hash": b.LinkHash, "now": b.Now,
	}
	args["api_key"] = nil
	if b.APIKey != uuid.Nil {
		args["api_key"] = b.APIKey
	}
	var services, form, claim error
	args["services"], services = json.Marshal(b.Services)
	args["form_data"], form = json.Marshal(b.FormData)
	addParts(args, b.Parts)
	charge := addPayment(args, b.Payment)
	var kept *Confirmation
	if b.Payment == nil {
		kept = &Confirmation{Details: b.Details}
	}
	claim = addClaim(args, b.Claim, kept)
	return args, errors.Join(services, form, charge, claim)
}

// addClaim passes the claim of an idempotency key and the confirmation that is kept for it, where there are such.
func addClaim(args pgx.NamedArgs, c *Claim, confirmation *Confirmation) error {
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

// addParts passes the parts as columns, in the order in which they are to be locked.
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

// WallClock is what a clock in loc shows at t, written as UTC: the timestamp without time zone that the columns take.
func WallClock(t time.Time, loc *time.Location) time.Time {
	local := t.In(loc)
	_, offset := local.Zone()
	return t.UTC().Add(time.Duration(offset) * time.Second)
}
