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
ALTER TABLE businesses DROP CONSTRAINT businesses_head_fkey;
DROP TABLE versions, businesses;
