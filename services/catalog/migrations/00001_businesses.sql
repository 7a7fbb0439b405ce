-- +goose Up

-- One row for each business there ever was. It stays when the business is removed, without slug and head, because two things
-- must never happen: a version number that caches have seen coming back with other content, and the id of a removed
-- business, which bookings and API keys elsewhere still name, going to somebody else. Whoever publishes under the slug next is
-- another business, with another id; removed_slug says how many had it before, and from which number on versions count.
CREATE TABLE businesses (
    id           uuid   PRIMARY KEY,
    slug         text   COLLATE "C" UNIQUE, -- "C": lists page by it in byte order
    last_version bigint NOT NULL CHECK (last_version >= 0),
    -- The version that is served; null until the first is written, and once the business is removed.
    head         bigint CHECK (head = last_version),
    removed_slug text   COLLATE "C",
    removed_at   timestamptz,
    sequence     integer NOT NULL DEFAULT 0, -- of its newest event
    CONSTRAINT businesses_removed_check CHECK (
        num_nulls(removed_slug, removed_at) IN (0, 2) AND (slug IS NULL) = (removed_slug IS NOT NULL))
);
CREATE INDEX businesses_by_removed_slug ON businesses (removed_slug) WHERE removed_slug IS NOT NULL;

-- Every publish is a row, and no row is ever changed: whoever holds (business, version) may keep its content for good.
CREATE TABLE versions (
    business_id  uuid        NOT NULL REFERENCES businesses (id),
    version      bigint      NOT NULL CHECK (version > 0),
    name         text        NOT NULL,
    -- The text as the owner sent it, byte for byte, so that reading gives it back with its comments and order.
    format       text        NOT NULL CHECK (format IN ('yaml', 'json')),
    source       bytea       NOT NULL,
    -- The same as canonical JSON, which decodes many times faster than YAML.
    canonical    json        NOT NULL,
    -- The release of the sanitizer that made the next column: what another one made is never shown (semantics.md §6).
    sanitizer    integer     NOT NULL,
    -- The canonical JSON with sanitized descriptions; null where sanitizing changed nothing, as with most manifests.
    sanitized    json,
    published_at timestamptz NOT NULL,
    PRIMARY KEY (business_id, version)
);

-- A head always has its content. Deferred: a head and its version are written in one transaction, in either order.
ALTER TABLE businesses
    ADD CONSTRAINT businesses_head_fkey FOREIGN KEY (id, head) REFERENCES versions (business_id, version)
    DEFERRABLE INITIALLY DEFERRED;

-- business_id is made from the slug here: before its first publish and after its removal a slug has no business's.

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
ALTER TABLE businesses DROP CONSTRAINT businesses_head_fkey;
DROP TABLE versions, businesses;
