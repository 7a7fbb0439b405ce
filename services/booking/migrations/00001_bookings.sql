-- +goose Up

-- Exclusion constraints over uuid and int columns need GiST operator classes for them. The extension is trusted, so the
-- database's owner may create it. It lies in public, where it outlives any one schema that uses it.
CREATE EXTENSION IF NOT EXISTS btree_gist WITH SCHEMA public;

-- What was sold, as it was told to the customer. Every key starts with business_id, so that the tables can be sharded
-- by tenant. Instants decide; the local times are the business's wall clock as the customer read it, kept so that a
-- later change of the business's time zone does not rewrite what was agreed.
CREATE TABLE bookings (
    business_id    uuid        NOT NULL,
    id             uuid        NOT NULL,
    status         text        NOT NULL CHECK (status IN ('pending', 'confirmed', 'completed', 'no_show', 'cancelled')),
    starts_at      timestamptz NOT NULL,
    ends_at        timestamptz NOT NULL,
    local_start    timestamp   NOT NULL,
    local_end      timestamp   NOT NULL,
    services       jsonb       NOT NULL, -- [{id, name, duration_minutes, price in minor units}], in the order of service
    staff_id       uuid,                 -- null: no staff member performs it
    staff_name     text,
    party_size     integer     NOT NULL CHECK (party_size BETWEEN 1 AND 1000),
    total          bigint      NOT NULL CHECK (total >= 0), -- minor units of currency
    currency       text        NOT NULL,
    first_booking  boolean     NOT NULL, -- priced as the customer's first with this business
    source         text        NOT NULL,
    customer_name  text        NOT NULL,
    customer_email text        NOT NULL,
    customer_phone text,
    form_data      jsonb       NOT NULL,
    offer_version  bigint      NOT NULL, -- the version of the offer it was sold by
    created_at     timestamptz NOT NULL,
    updated_at     timestamptz NOT NULL,
    PRIMARY KEY (business_id, id),
    CHECK (ends_at > starts_at),
    CHECK (jsonb_typeof(services) = 'array' AND jsonb_array_length(services) > 0),
    CHECK ((staff_id IS NULL) = (staff_name IS NULL))
);

-- The owner's list goes by local start; the id makes the order total, so that a cursor never skips or repeats.
CREATE INDEX bookings_by_start ON bookings (business_id, local_start, id);

-- "No earlier booking, not cancelled, by that e-mail address" is asked before every booking that a first_booking rule
-- could price.
CREATE INDEX bookings_by_customer ON bookings (business_id, lower(customer_email)) WHERE status <> 'cancelled';

-- Two bookings made at the same moment must not both be the customer's first.
CREATE UNIQUE INDEX bookings_one_first ON bookings (business_id, lower(customer_email))
    WHERE first_booking AND status <> 'cancelled';

-- The time that live bookings take, buffers included: a row for each resource of a booking. Cancelling deletes rows.
-- A resource is a staff member (lane 0), or lane 1, 2, … of a service without staff, named by the service's id.
--
-- never_twice is the guarantee. The order of its columns changes nothing about it, but its index also serves the reads
-- of a window of time of one business, so time comes second. That index holds every column the reads need.
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
    PRIMARY KEY (business_id, booking_id, part),
    FOREIGN KEY (business_id, booking_id) REFERENCES bookings (business_id, id) ON DELETE CASCADE,
    CONSTRAINT never_twice EXCLUDE USING gist
        (business_id WITH =, during WITH &&, resource_id WITH =, lane WITH =)
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
    PRIMARY KEY (business_id, id),
    UNIQUE (business_id, hash)
);
CREATE INDEX api_keys_by_hash ON api_keys (hash);
CREATE INDEX api_keys_by_age ON api_keys (business_id, created_at, id);

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

-- +goose Down
DROP TABLE idempotency_records;
DROP TABLE api_keys;
DROP TABLE occupied_time;
DROP TABLE bookings;
