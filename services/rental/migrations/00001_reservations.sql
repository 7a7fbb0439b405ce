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

-- include refused_writes

-- include may_write

-- include made_writes

-- include uuid_v7

-- include events
-- include event_feed

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
