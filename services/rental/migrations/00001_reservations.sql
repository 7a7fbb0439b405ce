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
    status        text        NOT NULL CHECK (status IN ('reserved', 'picked_up', 'returned', 'cancelled')),
    quantity      integer     NOT NULL CHECK (quantity BETWEEN 1 AND 1000),
    start_date    date        NOT NULL,
    end_date      date        NOT NULL, -- included
    start_minute  integer     CHECK (start_minute BETWEEN 0 AND 1439), -- after midnight of start_date
    end_minute    integer     CHECK (end_minute BETWEEN 0 AND 1440),   -- after midnight of end_date
    starts_at     timestamptz,
    ends_at       timestamptz,
    customer_name text        NOT NULL,
    offer_version bigint      NOT NULL, -- the version of the offer whose units were counted
    created_at    timestamptz NOT NULL,
    updated_at    timestamptz NOT NULL,
    PRIMARY KEY (business_id, id),
    FOREIGN KEY (business_id, rental_id) REFERENCES rentals (business_id, rental_id),
    CHECK (end_date >= start_date),
    CHECK (num_nulls(start_minute, end_minute, starts_at, ends_at) IN (0, 4)),
    CHECK (ends_at > starts_at)
);

-- What holds units of a rental from a date on. Reservations of long ago that nobody came for are passed over.
CREATE INDEX reservations_holding ON reservations (business_id, rental_id, end_date)
    WHERE status IN ('reserved', 'picked_up');

-- What is out holds units today, however long ago its dates have ended.
CREATE INDEX reservations_out ON reservations (business_id, rental_id) WHERE status = 'picked_up';

-- The owner's list goes by start; the id makes the order total, so that a cursor never skips or repeats.
CREATE INDEX reservations_by_start ON reservations (business_id, start_date, (coalesce(start_minute, 0)), id);

-- +goose Down
DROP TABLE reservations;
DROP TABLE rentals;
