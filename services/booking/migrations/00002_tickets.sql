-- +goose Up

-- Orders of tickets, each for one tier of one event, as they were told to the customer. Names and the local start are
-- kept as they were sold; ids name what is in the offer, which has no table here.
CREATE TABLE tickets (
    business_id   uuid        NOT NULL,
    id            uuid        NOT NULL,
    status        text        NOT NULL CHECK (status IN ('sold', 'cancelled')),
    event_id      uuid        NOT NULL,
    event_name    text        NOT NULL,
    tier_id       uuid        NOT NULL,
    tier_name     text        NOT NULL,
    local_start   timestamp   NOT NULL, -- the event's, on the business's wall clock
    quantity      integer     NOT NULL CHECK (quantity BETWEEN 1 AND 1000),
    customer_name text        NOT NULL,
    offer_version bigint      NOT NULL, -- the version of the offer whose capacities it was sold under
    created_at    timestamptz NOT NULL,
    cancelled_at  timestamptz,
    PRIMARY KEY (business_id, id),
    CHECK ((status = 'cancelled') = (cancelled_at IS NOT NULL))
);

-- The owner's lists, of all events and of one, go by age; the id makes the order total.
CREATE INDEX tickets_by_age ON tickets (business_id, created_at, id);
CREATE INDEX tickets_by_event ON tickets (business_id, event_id, created_at, id);

-- The guarded counters: tickets sold and not cancelled, of an event and of each of its tiers. Capacities are not here:
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

-- +goose Down
DROP TABLE tier_sales;
DROP TABLE event_sales;
DROP TABLE tickets;
