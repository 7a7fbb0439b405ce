-- +goose Up

-- How far the feed of each service was taken. One replica reads a feed at a time: the one that holds the row until reader_until, which
-- it prolongs as it reads. The cursor moves in the transaction that writes what the events lead to, from the value that the page was
-- asked with; a replica that lost the row meanwhile moves nothing.
CREATE TABLE feeds (
    name         text        PRIMARY KEY,
    cursor       text        NOT NULL DEFAULT '', -- '': from the oldest event that is kept
    reader       uuid,
    reader_until timestamptz NOT NULL DEFAULT '-infinity', -- by the database's clock, as replicas compare it
    caught_up_at timestamptz NOT NULL                      -- by the service's clock: everything until then was taken
);

-- Events that messages are still to be made of. They are made in the order of their subject's sequence, and the row goes with the making, so
-- that no customer's data stays here.
CREATE TABLE message_events (
    business_id uuid    NOT NULL,
    event_id    uuid    NOT NULL,
    subject_id  uuid    NOT NULL,
    sequence    integer NOT NULL,
    event       jsonb   NOT NULL,
    PRIMARY KEY (business_id, event_id)
);
CREATE INDEX message_events_in_order ON message_events (business_id, subject_id, sequence);

-- Messages as they were written, sent or not. A message that is due at a time instead of with an event has an event_id made of its kind,
-- its subject and that time, so that there is one of it.
CREATE TABLE messages (
    business_id     uuid        NOT NULL,
    id              uuid        NOT NULL,
    position        bigint      NOT NULL GENERATED ALWAYS AS IDENTITY, -- messages about one subject go out in this order
    kind            text        NOT NULL,
    event_id        uuid        NOT NULL,
    about_kind      text        NOT NULL, -- booking, ticket, reservation, webhook
    about_id        uuid        NOT NULL,
    customer_email  text        NOT NULL, -- whose data the message holds, in small letters; '' for nobody's
    recipient       text        NOT NULL, -- an address
    locale          text        NOT NULL,
    from_name       text        NOT NULL,
    reply_to        text        NOT NULL,
    subject         text        NOT NULL,
    text            text        NOT NULL,
    html            text        NOT NULL,
    calendar        bytea,                -- an .ics; null for none
    calendar_method text        NOT NULL,
    status          text        NOT NULL CHECK (status IN ('kept', 'queued', 'sent', 'failed')),
    reason          text        NOT NULL DEFAULT '', -- of what was not sent (yet), for the owner
    attempts        integer     NOT NULL DEFAULT 0,
    about_ends_at   timestamptz NOT NULL, -- when what it is about ends; a customer is remembered from then on
    created_at      timestamptz NOT NULL,
    queued_at       timestamptz NOT NULL, -- from when attempts are made for a day
    sent_at         timestamptz,
    PRIMARY KEY (business_id, id),
    -- One message of a kind for each event and recipient, however often the event is read.
    UNIQUE (business_id, event_id, kind, recipient),
    CHECK ((status = 'sent') = (sent_at IS NOT NULL))
);

-- The owner's list goes by when messages were written, newest first.
CREATE INDEX messages_by_time ON messages (business_id, created_at, id);

-- What waits before a message to the same recipient about the same subject.
CREATE INDEX messages_waiting ON messages (business_id, about_id, position) WHERE status = 'queued';

-- A customer is forgotten by address.
CREATE INDEX messages_of_customer ON messages (business_id, customer_email);

-- What is too old goes.
CREATE INDEX messages_by_age ON messages (created_at);

-- Endpoints of businesses that are told of events by HTTP. The secret is kept as it is: each delivery is signed with it
-- (docs/decisions). Of two secrets both sign until previous_until.
CREATE TABLE webhook_endpoints (
    business_id     uuid        NOT NULL,
    id              uuid        NOT NULL,
    url             text        NOT NULL,
    events          text[]      NOT NULL, -- types, or '*' alone
    active          boolean     NOT NULL,
    disabled_reason text        CHECK (disabled_reason IN ('gone', 'failing')), -- null where it is active, or its owner switched it off
    secret          bytea       NOT NULL,
    previous_secret bytea,
    previous_until  timestamptz,
    failing_since   timestamptz, -- the first failure since the last delivery that went well
    created_at      timestamptz NOT NULL,
    -- The lane: one job at a time sends what is due to an endpoint. It holds the row until lane_until, by the database's clock.
    lane            uuid,
    lane_until      timestamptz NOT NULL DEFAULT '-infinity',
    wake_at         timestamptz, -- a job is scheduled for then that will look again
    PRIMARY KEY (business_id, id),
    CHECK (NOT active OR disabled_reason IS NULL),
    CHECK ((previous_secret IS NULL) = (previous_until IS NULL))
);
CREATE INDEX webhook_endpoints_by_age ON webhook_endpoints (business_id, created_at, id);

-- What is sent, or was, to one endpoint of one event. It is sent from due_at on; null: it is over, or waits for an earlier one of its
-- subject. The body is kept, so that each attempt sends the same bytes. Rows are removed after 30 days.
CREATE TABLE webhook_deliveries (
    business_id  uuid        NOT NULL,
    id           uuid        NOT NULL,
    endpoint_id  uuid        NOT NULL,
    event_id     uuid        NOT NULL,
    event_type   text        NOT NULL,
    subject_kind text        NOT NULL,
    subject_id   uuid        NOT NULL,
    sequence     integer     NOT NULL,
    body         bytea       NOT NULL,
    customer_email text,          -- whose data the body holds, in small letters; null for nobody's
    status       text        NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
    attempts     integer     NOT NULL DEFAULT 0, -- since it was made or last asked for by the owner
    again        boolean     NOT NULL DEFAULT false, -- the owner asked for it, so that it keeps no order
    due_at       timestamptz CHECK (due_at IS NULL OR status = 'pending'),
    created_at   timestamptz NOT NULL,
    PRIMARY KEY (business_id, id),
    FOREIGN KEY (business_id, endpoint_id) REFERENCES webhook_endpoints (business_id, id) ON DELETE CASCADE
);

-- An event leads to one delivery for each endpoint.
CREATE UNIQUE INDEX webhook_deliveries_once ON webhook_deliveries (business_id, endpoint_id, event_id);

-- Of the events of a subject one is sent at a time, so that they arrive in their order.
CREATE UNIQUE INDEX webhook_deliveries_in_order ON webhook_deliveries (business_id, endpoint_id, subject_id) WHERE due_at IS NOT NULL AND NOT again;

-- What an endpoint is to be sent next, and what waits behind it.
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (business_id, endpoint_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX webhook_deliveries_pending ON webhook_deliveries (business_id, endpoint_id, subject_id, sequence) WHERE status = 'pending';

-- A customer is forgotten by address, and with what has ended.
CREATE INDEX webhook_deliveries_of_customer ON webhook_deliveries (business_id, customer_email);
CREATE INDEX webhook_deliveries_of_subject ON webhook_deliveries (business_id, subject_id);

-- The owner's log of an endpoint, newest first, and the sweep of old rows.
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (business_id, endpoint_id, created_at, id);
CREATE INDEX webhook_deliveries_old ON webhook_deliveries (created_at);

-- What became of each attempt: an answer's status and beginning, or why there was none.
CREATE TABLE webhook_attempts (
    business_id  uuid        NOT NULL,
    delivery_id  uuid        NOT NULL,
    number       integer     NOT NULL,
    at           timestamptz NOT NULL,
    milliseconds integer     NOT NULL,
    http_status  integer,    -- null: no answer
    error        text,       -- why the attempt failed, where no answer says it
    answer       text        NOT NULL, -- its first 4 KiB
    PRIMARY KEY (business_id, delivery_id, number),
    FOREIGN KEY (business_id, delivery_id) REFERENCES webhook_deliveries (business_id, id) ON DELETE CASCADE
);

-- include refused_writes

-- include may_write

-- include made_writes

-- +goose Down
DROP TABLE made_writes;
DROP FUNCTION may_write(uuid, uuid, timestamptz);
DROP TABLE refused_writes;
DROP TABLE webhook_attempts;
DROP TABLE webhook_deliveries;
DROP TABLE webhook_endpoints;
DROP TABLE messages;
DROP TABLE message_events;
DROP TABLE feeds;
