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

-- +goose Down
DROP TABLE made_writes;
DROP FUNCTION may_write(uuid, uuid, timestamptz);
DROP TABLE refused_writes;
ALTER TABLE businesses DROP CONSTRAINT businesses_head_fkey;
DROP TABLE versions, businesses;
