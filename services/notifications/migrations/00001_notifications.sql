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

-- +goose Down
DROP TABLE messages;
DROP TABLE message_events;
DROP TABLE feeds;
