-- +goose Up

-- One row for each slug that was ever published. It stays when the business is removed, because two things must
-- never happen: a version number that caches have seen coming back with other content (last_version only grows),
-- and the id of a removed business, which bookings and API keys elsewhere still name, going to somebody else.
CREATE TABLE businesses (
    id           uuid   PRIMARY KEY,
    slug         text   COLLATE "C" NOT NULL UNIQUE, -- "C": lists page by it in byte order
    last_version bigint NOT NULL CHECK (last_version >= 0),
    -- The version that is served; null once the business is removed.
    head         bigint CHECK (head = last_version)
);

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
    published_at timestamptz NOT NULL,
    PRIMARY KEY (business_id, version)
);

-- A head always has its content. Deferred: a head and its version are written in one transaction, in either order.
ALTER TABLE businesses
    ADD CONSTRAINT businesses_head_fkey FOREIGN KEY (id, head) REFERENCES versions (business_id, version)
    DEFERRABLE INITIALLY DEFERRED;

-- +goose Down
ALTER TABLE businesses DROP CONSTRAINT businesses_head_fkey;
DROP TABLE versions, businesses;
