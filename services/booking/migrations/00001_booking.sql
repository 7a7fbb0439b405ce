-- +goose Up

-- Exclusion constraints over uuid and int columns need GiST operator classes for them. The extension is trusted, so the
-- database's owner may create it. It lies in public, where it outlives any one schema that uses it.
CREATE EXTENSION IF NOT EXISTS btree_gist WITH SCHEMA public;

-- What was sold, as it was told to the customer. Every key starts with business_id, so that the tables can be sharded
-- by tenant. Instants decide; the local times are the business's wall clock as the customer read it, kept so that a
-- later change of the business's time zone does not rewrite what was agreed.
CREATE TABLE bookings (
    business_id       uuid        NOT NULL,
    id                uuid        NOT NULL,
    status            text        NOT NULL CHECK (status IN ('pending', 'confirmed', 'completed', 'no_show', 'cancelled')),
    starts_at         timestamptz NOT NULL,
    ends_at           timestamptz NOT NULL,
    local_start       timestamp   NOT NULL,
    local_end         timestamp   NOT NULL,
    services          jsonb       NOT NULL, -- [{id, name, variant_id?, variant_name?, duration_minutes, price in minor units}], in the order of service
    staff_id          uuid,                 -- null: no staff member performs it
    staff_name        text,
    class_schedule_id uuid,                 -- the session of a class booking; it stays when the booking is cancelled
    is_package        boolean     NOT NULL DEFAULT false,
    staffing_mode     text        NOT NULL DEFAULT '' CHECK (staffing_mode IN ('', 'per_service')), -- '': one provider
    staff_requested   boolean     NOT NULL DEFAULT false, -- the customer asked for this member, not for anybody who is free
    party_size        integer     NOT NULL CHECK (party_size BETWEEN 1 AND 1000),
    total             bigint      NOT NULL CHECK (total >= 0), -- minor units of currency
    currency          text        NOT NULL,
    first_booking     boolean     NOT NULL, -- priced as the customer's first with this business
    source            text        NOT NULL,
    on_page           boolean     NOT NULL DEFAULT false, -- made on the business's booking page
    customer_name     text        NOT NULL,
    customer_email    text        NOT NULL,
    customer_phone    text,
    form_data         jsonb       NOT NULL,
    locale            text        NOT NULL, -- the customer's language, one of the business's
    offer_version     bigint      NOT NULL, -- the version of the offer it was sold by
    link_hash         bytea       CHECK (octet_length(link_hash) = 32), -- SHA-256 of the token of the customer's link; null: forgotten
    sequence          integer     NOT NULL DEFAULT 1, -- of its newest event; 0: none yet, as its charge is not open
    created_at        timestamptz NOT NULL,
    updated_at        timestamptz NOT NULL,
    PRIMARY KEY (business_id, id),
    CHECK (ends_at > starts_at),
    CHECK (jsonb_typeof(services) = 'array' AND jsonb_array_length(services) > 0),
    CHECK ((staff_id IS NULL) = (staff_name IS NULL))
);

-- The owner's list goes by local start; the id makes the order total, so that a cursor never skips or repeats.
CREATE INDEX bookings_by_start ON bookings (business_id, local_start, id);

-- A customer's link names what it leads to by its token alone.
CREATE INDEX bookings_by_link ON bookings (link_hash) WHERE link_hash IS NOT NULL;

-- "No earlier booking, not cancelled, by that e-mail address" is asked before every booking that a first_booking rule
-- could price.
-- Whoever asks to be forgotten is found by it, too.
CREATE INDEX bookings_by_customer ON bookings (business_id, lower(customer_email));

-- Customers are forgotten some time after the end of what they booked; then they have no name.
CREATE INDEX bookings_remembered ON bookings (business_id, ends_at) WHERE customer_name <> '';

-- What an address has open of what was booked on the booking page is counted whenever it books there again.
CREATE INDEX bookings_open_on_page ON bookings (business_id, lower(customer_email), ends_at)
    WHERE on_page AND status IN ('pending', 'confirmed');

-- Two bookings made at the same moment must not both be the customer's first.
CREATE UNIQUE INDEX bookings_one_first ON bookings (business_id, lower(customer_email))
    WHERE first_booking AND status <> 'cancelled' AND customer_email <> '';

-- The time that live bookings take, buffers included: a row for each resource of a booking. Cancelling deletes rows.
-- A resource is a staff member (lane 0), or lane 1, 2, … of a service without staff, named by the service's id.
--
-- never_twice is the guarantee. The order of its columns changes nothing about it, but its index also serves the reads
-- of a window of time of one business, so time comes second. That index holds every column the reads need.
--
-- Guests of a class hold their teacher's time together: their rows must not exclude each other, but every appointment,
-- and the reverse. So an appointment's row is held by its booking, which differs from every other, and a class
-- booking's by the nil UUID, which differs from all but its like. A booking that moves takes its new time beside the old,
-- which may overlap it.
--
-- The foreign key is what makes a booking whole or nothing: rows of a booking that was not written cannot stay.
CREATE TABLE occupied_time (
    business_id uuid      NOT NULL,
    booking_id  uuid      NOT NULL,
    part        integer   NOT NULL,
    resource_id uuid      NOT NULL,
    lane        integer   NOT NULL CHECK (lane >= 0),
    during      tstzrange NOT NULL CHECK (NOT isempty(during) AND lower_inc(during) AND NOT upper_inc(during)
                                          AND NOT lower_inf(during) AND NOT upper_inf(during)),
    holder      uuid      NOT NULL,
    PRIMARY KEY (business_id, booking_id, part),
    FOREIGN KEY (business_id, booking_id) REFERENCES bookings (business_id, id) ON DELETE CASCADE,
    CONSTRAINT never_twice EXCLUDE USING gist
        (business_id WITH =, during WITH &&, resource_id WITH =, lane WITH =, holder WITH <>)
);

-- What live bookings occupied that ended long ago: it is moved here whole, so that the index of never_twice follows what lies ahead.
-- Reports of how much was used are made of it. Nobody books what is past, so no constraint compares these rows.
CREATE TABLE past_occupied_time (
    business_id uuid      NOT NULL,
    booking_id  uuid      NOT NULL,
    part        integer   NOT NULL,
    resource_id uuid      NOT NULL,
    lane        integer   NOT NULL,
    during      tstzrange NOT NULL,
    holder      uuid      NOT NULL,
    PRIMARY KEY (business_id, booking_id, part),
    FOREIGN KEY (business_id, booking_id) REFERENCES bookings (business_id, id) ON DELETE CASCADE
);

-- Seats taken in one happening of a class session. The number is only ever raised by a statement that compares it with
-- the capacity of the offer it was sold by, so that the last seat is sold once. Time comes second in the key because a
-- window of time is read.
CREATE TABLE class_sessions (
    business_id uuid        NOT NULL,
    starts_at   timestamptz NOT NULL,
    session_id  uuid        NOT NULL,
    taken       integer     NOT NULL CHECK (taken >= 0),
    PRIMARY KEY (business_id, starts_at, session_id)
);

-- The seats of each live class booking: cancelling deletes the row and gives them back to the counter, and so does time: of what
-- ended long ago, the booking says it all. The foreign key
-- makes a booking whole or nothing: seats of a booking that was not written fail with their statement, counter and all.
CREATE TABLE class_seats (
    business_id uuid        NOT NULL,
    booking_id  uuid        NOT NULL,
    starts_at   timestamptz NOT NULL,
    session_id  uuid        NOT NULL,
    seats       integer     NOT NULL CHECK (seats > 0),
    PRIMARY KEY (business_id, booking_id),
    FOREIGN KEY (business_id, booking_id) REFERENCES bookings (business_id, id) ON DELETE CASCADE
);

-- Seats of the past are found by their start, as a class without a teacher occupies no time.
CREATE INDEX class_seats_by_start ON class_seats (business_id, starts_at);

-- The charge of a booking, of an order of tickets, or of a reservation that is paid online: its subject. Reservations are rental's.
--
--   creating ──► open ──► paid      its newest refund:  pending ──► refunded
--       │          │       ▲                               │           │
--       │          ▼       │                               ▼           │
--       └───► cancelling ──┴──► cancelled               refused ◄──────┘
--
-- creating: the time, or the tickets, are held, and the charge may exist or not. cancelling: the subject is off, and the charge must
-- not be payable. What is not final is looked at again when due_at has come. A refund waits until the provider has answered for
-- good; refund_number tells it from earlier ones of the charge, which the provider refused. No more goes back than was paid.
CREATE TABLE payments (
    business_id uuid        NOT NULL,
    subject_kind text       NOT NULL CHECK (subject_kind IN ('booking', 'ticket', 'reservation')),
    subject_id  uuid        NOT NULL,
    status      text        NOT NULL CHECK (status IN ('creating', 'open', 'paid', 'cancelling', 'cancelled')),
    provider    text        NOT NULL,
    account     text        NOT NULL, -- the business's, with the provider
    reference   text,                 -- the provider's name of the charge; null where it is not known that there is one
    on_checkout boolean     NOT NULL DEFAULT false, -- paid on the provider's own page, which nobody can find without its reference
    amount      bigint      NOT NULL CHECK (amount > 0), -- minor units of currency
    currency    text        NOT NULL,
    cancellation_policy jsonb NOT NULL, -- {cooling_off_hours, rules} of the offer it was sold by
    failed_at   timestamptz,          -- of the newest attempt to pay that failed, by the provider's clock
    refunded    bigint      NOT NULL DEFAULT 0, -- what went back
    refund_number  integer  NOT NULL DEFAULT 0,
    refund_amount  bigint   CHECK (refund_amount > 0),
    refund_percent integer  CHECK (refund_percent BETWEEN 0 AND 100),
    refund_status  text     CHECK (refund_status IN ('pending', 'refunded', 'refused')),
    refund_reason  text,              -- the provider's, of a refusal
    due_at      timestamptz NOT NULL,
    attempts    integer     NOT NULL DEFAULT 0, -- to end it, since it was last due for another reason
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL,
    PRIMARY KEY (business_id, subject_id),
    CHECK ((refund_number > 0) = (refund_status IS NOT NULL)),
    CHECK (refund_status IS NULL OR status = 'paid' AND refund_amount IS NOT NULL AND refund_percent IS NOT NULL),
    CHECK (refunded >= 0 AND refunded + CASE refund_status WHEN 'pending' THEN refund_amount ELSE 0 END <= amount)
);

-- Charges that the provider is to be asked about are taken by business, in turn; those that were never opened are not.
CREATE INDEX payments_due ON payments (business_id, due_at) WHERE status IN ('open', 'cancelling') OR refund_status = 'pending';
CREATE INDEX payments_unfinished ON payments (due_at) WHERE status = 'creating';

-- A provider's notice names the charge, not the business.
CREATE INDEX payments_by_reference ON payments (provider, account, reference) WHERE reference IS NOT NULL;

-- Orders of tickets of one event, as they were told to the customer. Names, prices and the local start are kept as they were sold; ids
-- name what is in the offer, which has no table here. An order of the owner's has no price: what was paid is between the two.
CREATE TABLE tickets (
    business_id   uuid        NOT NULL,
    id            uuid        NOT NULL,
    status        text        NOT NULL CHECK (status IN ('pending', 'sold', 'cancelled')), -- pending: it waits for its payment
    event_id      uuid        NOT NULL,
    event_name    text        NOT NULL,
    tiers         jsonb       NOT NULL, -- [{id, name, quantity, price? of one ticket in minor units}], each tier once
    local_start   timestamp   NOT NULL, -- the event's, on the business's wall clock
    starts_at     timestamptz NOT NULL, -- the event's start and end as it was sold
    ends_at       timestamptz NOT NULL,
    quantity      integer     NOT NULL CHECK (quantity BETWEEN 1 AND 1000), -- of all tiers
    total         bigint      CHECK (total >= 0), -- minor units of currency; null: it has no price
    currency      text        NOT NULL,
    customer_name text        NOT NULL,
    customer_email text,                -- null: nothing is mailed
    customer_phone text,
    form_data     jsonb       NOT NULL DEFAULT '{}', -- answers to the business's own questions
    locale        text        NOT NULL, -- the customer's language, one of the business's
    offer_version bigint      NOT NULL, -- the version of the offer whose capacities it was sold under
    sequence      integer     NOT NULL DEFAULT 1, -- of its newest event; 0: none yet, as its charge is not open
    created_at    timestamptz NOT NULL,
    cancelled_at  timestamptz,
    link_hash     bytea       CHECK (octet_length(link_hash) = 32), -- SHA-256 of the token of the customer's link; null: forgotten
    PRIMARY KEY (business_id, id),
    CHECK (jsonb_typeof(tiers) = 'array' AND jsonb_array_length(tiers) > 0),
    CHECK (jsonb_typeof(form_data) = 'object'),
    CHECK ((status = 'cancelled') = (cancelled_at IS NOT NULL))
);

-- The owner's lists, of all events and of one, go by age; the id makes the order total.
CREATE INDEX tickets_by_age ON tickets (business_id, created_at, id);
CREATE INDEX tickets_by_link ON tickets (link_hash) WHERE link_hash IS NOT NULL;
CREATE INDEX tickets_by_customer ON tickets (business_id, lower(customer_email)) WHERE customer_email IS NOT NULL;
CREATE INDEX tickets_remembered ON tickets (business_id, ends_at) WHERE customer_name <> '';
CREATE INDEX tickets_by_event ON tickets (business_id, event_id, created_at, id);

-- The guarded counters: tickets sold, or held until they are paid, and not cancelled, of an event and of each of its tiers. Capacities are not here:
-- they are the offer's, and a sale is judged by those that hold when it is made. A row comes with the first order and
-- stays. Statements lock an event's row before those of its tiers.
CREATE TABLE event_sales (
    business_id uuid    NOT NULL,
    event_id    uuid    NOT NULL,
    sold        integer NOT NULL CHECK (sold >= 0),
    PRIMARY KEY (business_id, event_id)
);
CREATE TABLE tier_sales (
    business_id uuid    NOT NULL,
    event_id    uuid    NOT NULL,
    tier_id     uuid    NOT NULL,
    sold        integer NOT NULL CHECK (sold >= 0),
    PRIMARY KEY (business_id, event_id, tier_id)
);

-- Keys are found by their hash before the business is known. A hash of 224 random bits needs no constraint to be unique
-- over all businesses; the one per business is there because it can be had when sharded.
CREATE TABLE api_keys (
    business_id  uuid        NOT NULL,
    id           uuid        NOT NULL,
    name         text        NOT NULL,
    scope        text        NOT NULL CHECK (scope IN ('read', 'write', 'all')),
    hash         bytea       NOT NULL CHECK (octet_length(hash) = 32), -- SHA-256 of the key, which is stored nowhere
    prefix       text        NOT NULL,                                 -- its first eight digits, for display
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz,
    last_used_at timestamptz,                                          -- to the minute
    revoked_at   timestamptz,
    sequence     integer     NOT NULL DEFAULT 1, -- of its newest event
    PRIMARY KEY (business_id, id),
    UNIQUE (business_id, hash)
);
CREATE INDEX api_keys_by_hash ON api_keys (hash);
CREATE INDEX api_keys_by_age ON api_keys (business_id, created_at, id);

-- Calendars of bookings that a program reads by a secret address (lifecycle.md §2), found by the token's hash before the business is
-- known, as keys are.
CREATE TABLE calendar_feeds (
    business_id  uuid        NOT NULL,
    id           uuid        NOT NULL,
    token_hash   bytea       NOT NULL CHECK (octet_length(token_hash) = 32), -- SHA-256 of the token, which is stored nowhere
    staff_id     uuid,                                                       -- null: the bookings of all
    shows        text        NOT NULL CHECK (shows IN ('times', 'names')),
    created_at   timestamptz NOT NULL,
    last_used_at timestamptz,                                                -- to the minute
    revoked_at   timestamptz,
    PRIMARY KEY (business_id, id)
);
CREATE INDEX calendar_feeds_by_token ON calendar_feeds (token_hash);
CREATE INDEX calendar_feeds_by_age ON calendar_feeds (business_id, created_at, id);

-- Confirmations kept for Idempotency-Key. A row without one is a request in flight: it belongs to the holder of token until
-- claimed_until, then the next request takes it over.
CREATE TABLE idempotency_records (
    business_id     uuid        NOT NULL,
    principal       text        NOT NULL, -- who asked, such as api_key:<id>
    idempotency_key text        NOT NULL,
    request_hash    bytea       NOT NULL CHECK (octet_length(request_hash) = 32),
    token           uuid        NOT NULL,
    claimed_until   timestamptz NOT NULL,
    expires_at      timestamptz NOT NULL,
    confirmation    bytea, -- JSON
    PRIMARY KEY (business_id, principal, idempotency_key)
);

-- Expired records are removed by age.
CREATE INDEX idempotency_records_by_expiry ON idempotency_records (expires_at);

-- include refused_writes

-- Of each business the newest version of its offer that was published, as catalog tells it before the publish is answered. What is sold is
-- sold by no older one. A business of which nothing was told yet has no row.
CREATE TABLE offer_versions (
    business_id uuid   PRIMARY KEY,
    version     bigint NOT NULL
);

-- include may_write

-- Every statement that sells time calls this last: it fails where the offer that was decided by is no longer the newest, or the API key
-- that was shown (null: none) does not count any more. Who publishes or revokes takes the same lock alone, and so waits for the sales that
-- have passed; being volatile, the function then sees what they have committed, also where that is newer than the statement's snapshot.
-- Who has this lock waits for no other.
-- +goose StatementBegin
CREATE FUNCTION may_sell(business uuid, offer bigint, api_key uuid) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtextextended('sells ' || business::text, 0));
    IF EXISTS (SELECT FROM offer_versions AS o WHERE o.business_id = business AND o.version > offer) THEN
        RAISE EXCEPTION 'a newer offer was published' USING ERRCODE = 'SM003';
    END IF;
    IF api_key IS NOT NULL AND NOT EXISTS (
        SELECT FROM api_keys AS k WHERE k.business_id = business AND k.id = api_key AND k.revoked_at IS NULL) THEN
        RAISE EXCEPTION 'the API key was revoked' USING ERRCODE = 'SM004';
    END IF;
    RETURN true;
END
$$;
-- +goose StatementEnd

-- The statement that books on the booking page calls this once its booking is in (pages.md: bookings.max_open_per_customer). The
-- lock makes bookings there by one address wait for each other; being volatile, the function then sees those that were committed
-- meanwhile, also where they are newer than the statement's snapshot.
-- +goose StatementBegin
CREATE FUNCTION may_open(business uuid, booking uuid, email text, now timestamptz, most integer) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(business::text || ' ' || lower(email), 0));
    IF (SELECT count(*) >= most
        FROM (SELECT FROM bookings AS b
              WHERE b.business_id = business AND lower(b.customer_email) = lower(email) AND b.on_page
                AND b.status IN ('pending', 'confirmed') AND b.ends_at > now AND b.id <> booking
              LIMIT most) AS others) THEN
        RAISE EXCEPTION 'the address has as many open bookings as it may' USING ERRCODE = 'SM002';
    END IF;
    RETURN true;
END
$$;
-- +goose StatementEnd

-- include made_writes

-- include uuid_v7

-- include events
-- include event_feed

-- +goose Down
DROP TABLE event_feed;
DROP TABLE events;
DROP FUNCTION uuid_v7();
DROP TABLE made_writes;
DROP FUNCTION may_sell(uuid, bigint, uuid);
DROP FUNCTION may_open(uuid, uuid, text, timestamptz, integer);
DROP FUNCTION may_write(uuid, uuid, timestamptz);
DROP TABLE refused_writes;
DROP TABLE idempotency_records;
DROP TABLE calendar_feeds;
DROP TABLE api_keys;
DROP TABLE offer_versions;
DROP TABLE tier_sales;
DROP TABLE event_sales;
DROP TABLE tickets;
DROP TABLE payments;
DROP TABLE class_seats;
DROP TABLE class_sessions;
DROP TABLE past_occupied_time;
DROP TABLE occupied_time;
DROP TABLE bookings;
