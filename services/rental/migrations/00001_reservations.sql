-- +goose Up

-- A row for each rental that was ever reserved, and nothing but its key: whoever adds a reservation holds the row's
-- lock from before it counts the units that others hold until it is written. What a rental is stays in catalog.
CREATE TABLE rentals (
    business_id uuid NOT NULL,
    rental_id   uuid NOT NULL,
    PRIMARY KEY (business_id, rental_id)
);

-- Reservations as they were agreed. Every key starts with business_id, so that the tables can be sharded by tenant.
-- One for whole dates has no times: its dates hold the units, whatever zone the business is in later. One for hours has
-- the wall clock as it was told to the customer, and the instants, which decide.
CREATE TABLE reservations (
    business_id   uuid        NOT NULL,
    id            uuid        NOT NULL,
    rental_id     uuid        NOT NULL,
    rental_name   text        NOT NULL,
    status        text        NOT NULL CHECK (status IN ('pending', 'reserved', 'picked_up', 'returned', 'cancelled')), -- pending: it waits for its payment
    quantity      integer     NOT NULL CHECK (quantity BETWEEN 1 AND 1000),
    start_date    date        NOT NULL,
    end_date      date        NOT NULL, -- included
    start_minute  integer     CHECK (start_minute BETWEEN 0 AND 1439), -- after midnight of start_date
    end_minute    integer     CHECK (end_minute BETWEEN 0 AND 1440),   -- after midnight of end_date
    starts_at     timestamptz,
    ends_at       timestamptz,
    extras        jsonb       NOT NULL DEFAULT '[]', -- [{rental_id, name, quantity, by_day, price?}]: what goes with it for the same time
    price         bigint      CHECK (price >= 0), -- of the rental itself, minor units of currency; null: it has no price, as the owner reserved
    total         bigint      CHECK (total >= 0), -- with the extras
    currency      text,
    payment       jsonb,                -- the charge as booking told of it last, or as it will be once booking has heard of a cancellation; null: nothing is paid online
    customer_name text        NOT NULL,
    customer_email text,                -- null: nothing is mailed
    customer_phone text,
    form_data     jsonb       NOT NULL DEFAULT '{}', -- answers to the business's own questions
    locale        text        NOT NULL, -- the customer's language, one of the business's
    offer_version bigint      NOT NULL, -- the version of the offer whose units were counted
    sequence      integer     NOT NULL DEFAULT 1, -- of its newest event; 0: none yet, as its charge is not open
    link_hash     bytea       CHECK (octet_length(link_hash) = 32), -- SHA-256 of the token of the customer's link; null: forgotten
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    PRIMARY KEY (business_id, id),
    FOREIGN KEY (business_id, rental_id) REFERENCES rentals (business_id, rental_id),
    CHECK (end_date >= start_date),
    CHECK (jsonb_typeof(extras) = 'array'),
    CHECK (jsonb_typeof(form_data) = 'object'),
    CHECK (num_nulls(price, total, currency) IN (0, 3)),
    CHECK (payment IS NOT NULL OR status <> 'pending'),
    CHECK (num_nulls(start_minute, end_minute, starts_at, ends_at) IN (0, 4)),
    CHECK (ends_at > starts_at)
);

-- What holds units of a rental from a date on. Reservations of long ago that nobody came for are passed over.
CREATE INDEX reservations_holding ON reservations (business_id, rental_id, end_date)
    WHERE status IN ('pending', 'reserved', 'picked_up');

-- What is out holds units today, however long ago its dates have ended.
CREATE INDEX reservations_out ON reservations (business_id, rental_id) WHERE status = 'picked_up';

-- The units that the extras of a reservation hold, for as long as it holds its own: cancelling and returning delete the rows. They are
-- held within the reservation's time, by whole dates where the rental is one by the day. What is out is held until nobody knows when.
CREATE TABLE extra_units (
    business_id    uuid    NOT NULL,
    rental_id      uuid    NOT NULL,
    reservation_id uuid    NOT NULL,
    quantity       integer NOT NULL CHECK (quantity BETWEEN 1 AND 1000),
    by_day         boolean NOT NULL,
    held_until     date    NOT NULL, -- infinity once it is picked up
    PRIMARY KEY (business_id, reservation_id, rental_id),
    FOREIGN KEY (business_id, rental_id) REFERENCES rentals (business_id, rental_id),
    FOREIGN KEY (business_id, reservation_id) REFERENCES reservations (business_id, id) ON DELETE CASCADE
);

-- What holds units of a rental from a date on, as reservations_holding and reservations_out.
CREATE INDEX extra_units_holding ON extra_units (business_id, rental_id, held_until);

-- Of these booking is asked what has become of their charge, or told that they are off.
CREATE INDEX reservations_unfinished ON reservations (business_id, id)
    WHERE payment->>'status' IN ('creating', 'open', 'cancelling') OR payment->>'refund_status' = 'pending';

-- A customer's link names what it leads to by its token alone.
CREATE INDEX reservations_by_link ON reservations (link_hash) WHERE link_hash IS NOT NULL;

-- Whoever asks to be forgotten is found by address.
CREATE INDEX reservations_by_customer ON reservations (business_id, lower(customer_email)) WHERE customer_email IS NOT NULL;

-- Customers are forgotten some time after the end of what they reserved, where it is back; then they have no name. A reservation of whole
-- dates has ended once its last date has everywhere.
CREATE INDEX reservations_remembered ON reservations
    (business_id, (coalesce(ends_at, (end_date + interval '36 hours') AT TIME ZONE 'UTC'))) WHERE customer_name <> '' AND status <> 'picked_up';

-- The owner's list goes by start; the id makes the order total, so that a cursor never skips or repeats.
CREATE INDEX reservations_by_start ON reservations (business_id, start_date, (coalesce(start_minute, 0)), id);

-- Writes that were refused, each with the moment until which: an attempt at the write that began before it must write nothing,
-- however late its statement arrives. A client names a write by its Idempotency-Key; others have a random id. Rows are
-- removed after a day.
CREATE TABLE refused_writes (
    business_id uuid        NOT NULL,
    write_id    uuid        NOT NULL,
    refused_at  timestamptz NOT NULL,
    PRIMARY KEY (business_id, write_id)
);
CREATE INDEX refused_writes_by_age ON refused_writes (refused_at);

-- Every statement that makes a write calls this. The lock makes whoever decides about the write wait for it, and it for them;
-- being volatile, the function then sees what they have decided, also where that is newer than the statement's snapshot.
-- +goose StatementBegin
CREATE FUNCTION may_write(business uuid, write uuid, begun timestamptz) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(write::text, 0));
    IF EXISTS (SELECT FROM refused_writes AS r WHERE r.business_id = business AND r.write_id = write AND r.refused_at > begun) THEN
        RAISE EXCEPTION 'the write was refused after this attempt had begun' USING ERRCODE = 'SM001';
    END IF;
    RETURN true;
END
$$;
-- +goose StatementEnd

-- Writes of the owner that were made, and what they were answered with, so that one whose answer was lost is looked up and one that
-- is repeated under its Idempotency-Key is answered as it was. request_hash is of what was asked for; 32 zeros without a key.
-- Rows are removed after a day.
CREATE TABLE made_writes (
    business_id  uuid        NOT NULL,
    write_id     uuid        NOT NULL,
    request_hash bytea       NOT NULL CHECK (octet_length(request_hash) = 32),
    answer       bytea       NOT NULL, -- JSON
    made_at      timestamptz NOT NULL,
    PRIMARY KEY (business_id, write_id)
);
CREATE INDEX made_writes_by_age ON made_writes (made_at);

-- A UUIDv7 (RFC 9562): 48 bits of milliseconds since the epoch, then random bits.
CREATE FUNCTION uuid_v7() RETURNS uuid LANGUAGE sql VOLATILE
RETURN encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    PLACING substring(int8send(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid;

-- One event for each change, written by the statement that makes the change. The key allows one event for each sequence of a subject.
--
-- Transactions commit in another order than they write, so a number that a row is given when it is written cannot be a reader's
-- cursor. position is null until the feed is read: then rows that are committed are numbered from event_feed, under its row lock.
-- Within one numbering rows go by serial, which for one subject follows the order of its row's lock.
CREATE TABLE events (
    business_id  uuid        NOT NULL,
    subject_id   uuid        NOT NULL,
    sequence     integer     NOT NULL, -- counts per subject, from 1
    subject_kind text        NOT NULL,
    id           uuid        NOT NULL DEFAULT uuid_v7(),
    type         text        NOT NULL,
    at           timestamptz NOT NULL, -- by the clock of the service
    actor_kind   text        NOT NULL,
    actor_id     uuid,
    data         jsonb       NOT NULL, -- the subject's row after the change
    serial       bigint      GENERATED ALWAYS AS IDENTITY,
    position     bigint,
    PRIMARY KEY (business_id, subject_id, sequence)
);
CREATE UNIQUE INDEX events_by_position ON events (position) WHERE position IS NOT NULL;
CREATE INDEX events_to_number ON events (serial) WHERE position IS NULL;

-- The audit log of a business goes by time.
CREATE INDEX events_by_time ON events (business_id, at, id);

-- The one row that numbers events. A reader whose cursor lies before pruned has missed what was removed.
CREATE TABLE event_feed (
    one       boolean PRIMARY KEY DEFAULT true CHECK (one),
    position  bigint NOT NULL, -- the last that was given
    pruned    bigint NOT NULL  -- the last that was removed for its age
);
INSERT INTO event_feed (position, pruned) VALUES (0, 0);

-- +goose Down
DROP TABLE event_feed;
DROP TABLE events;
DROP FUNCTION uuid_v7();
DROP TABLE made_writes;
DROP FUNCTION may_write(uuid, uuid, timestamptz);
DROP TABLE refused_writes;
DROP TABLE extra_units;
DROP TABLE reservations;
DROP TABLE rentals;
