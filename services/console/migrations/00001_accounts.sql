-- +goose Up

-- People who sign in. Who they are in a business, members says.
CREATE TABLE people (
    id         uuid        PRIMARY KEY,
    email      text        NOT NULL UNIQUE CHECK (email <> ''), -- in small letters: one address, one person
    name       text        NOT NULL,
    language   text        NOT NULL, -- BCP 47; '' where it is not known
    operator   boolean     NOT NULL,
    created_at timestamptz NOT NULL,
    -- Since when it is known that the address is theirs. Until then whoever invited them may have signed in as them.
    verified_at timestamptz
);

CREATE TABLE members (
    business_id uuid        NOT NULL,
    person_id   uuid        NOT NULL REFERENCES people (id),
    role        text        NOT NULL CHECK (role IN ('owner', 'manager', 'desk', 'staff', 'viewer')),
    staff_id    uuid,       -- of the offer's staff
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (business_id, person_id),
    CONSTRAINT members_staff_check CHECK ((role = 'staff') = (staff_id IS NOT NULL))
);
CREATE INDEX members_by_person ON members (person_id);

-- What a browser shows is a secret of 256 random bits; the hash alone is kept. It is looked up at every request, so that a session that is
-- ended here is dead on every replica.
CREATE TABLE sessions (
    hash         bytea       PRIMARY KEY CHECK (octet_length(hash) = 32),
    id           uuid        NOT NULL UNIQUE, -- by which its person ends it
    person_id    uuid        NOT NULL REFERENCES people (id),
    client       text        NOT NULL, -- what the browser calls itself
    created_at   timestamptz NOT NULL,
    last_seen_at timestamptz NOT NULL  -- to the minute
);
CREATE INDEX sessions_by_person ON sessions (person_id);
CREATE INDEX sessions_by_age ON sessions (last_seen_at);

-- Links that sign in, once. One that an operator made says that its bearer is who they are.
CREATE TABLE links (
    hash       bytea       PRIMARY KEY CHECK (octet_length(hash) = 32),
    person_id  uuid        NOT NULL REFERENCES people (id),
    verifies   boolean     NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX links_by_person ON links (person_id);
CREATE INDEX links_by_age ON links (expires_at);

-- Tokens of the admin API. business_id is the nil UUID for those that act as an operator.
CREATE TABLE tokens (
    business_id  uuid        NOT NULL,
    id           uuid        NOT NULL,
    name         text        NOT NULL,
    role         text        NOT NULL CHECK (role IN ('operator', 'owner', 'manager', 'desk', 'staff', 'viewer')),
    staff_id     uuid,
    hash         bytea       NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
    prefix       text        NOT NULL,
    created_by   uuid,       -- the person or token; null for the environment's token
    created_at   timestamptz NOT NULL,
    expires_at   timestamptz,
    last_used_at timestamptz, -- to the minute
    revoked_at   timestamptz,
    PRIMARY KEY (business_id, id),
    CONSTRAINT tokens_staff_check CHECK ((role = 'staff') = (staff_id IS NOT NULL)),
    CONSTRAINT tokens_operator_check CHECK ((role = 'operator') = (business_id = '00000000-0000-0000-0000-000000000000'))
);
CREATE UNIQUE INDEX tokens_by_id ON tokens (id);
CREATE INDEX tokens_by_creator ON tokens (created_by) WHERE created_by IS NOT NULL;
CREATE INDEX tokens_by_age ON tokens (created_at, id);

-- business_id is the nil UUID for what is made for no business.

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
DROP TABLE tokens;
DROP TABLE links;
DROP TABLE sessions;
DROP TABLE members;
DROP TABLE people;
