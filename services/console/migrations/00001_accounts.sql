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
    verified_at timestamptz,
    password_hash text, -- argon2id; null for who has no password
    sequence   integer     NOT NULL DEFAULT 0 -- of their newest event, in whichever business
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

-- Links that sign in, once, or, with the purpose password, let somebody choose a password and sign in by that. One that an operator made, or that was
-- mailed, says that its bearer is who they are.
CREATE TABLE links (
    hash       bytea       PRIMARY KEY CHECK (octet_length(hash) = 32),
    person_id  uuid        NOT NULL REFERENCES people (id),
    purpose    text        NOT NULL CHECK (purpose IN ('sign_in', 'password')),
    verifies   boolean     NOT NULL,
    expires_at timestamptz NOT NULL
);
CREATE INDEX links_by_person ON links (person_id);
CREATE INDEX links_by_age ON links (expires_at);

-- Passkeys, by which a person signs in as by a password. Nothing here is secret: what signs stays in the person's device.
CREATE TABLE passkeys (
    credential_id bytea       PRIMARY KEY CHECK (octet_length(credential_id) BETWEEN 1 AND 1023), -- as the device calls it
    id            uuid        NOT NULL UNIQUE, -- by which its person removes it
    person_id     uuid        NOT NULL REFERENCES people (id),
    name          text        NOT NULL,
    public_key    bytea       NOT NULL, -- COSE
    flags         smallint    NOT NULL, -- of its last answer
    transports    text[]      NOT NULL,
    sign_count    bigint      NOT NULL, -- of its answers, as the device counts them; it never goes back
    created_at    timestamptz NOT NULL,
    last_used_at  timestamptz
);
CREATE INDEX passkeys_by_person ON passkeys (person_id);

-- What a browser was asked to sign with a passkey, by the hash of the secret in its cookie; each is gone with the first answer.
CREATE TABLE challenges (
    hash       bytea       PRIMARY KEY CHECK (octet_length(hash) = 32),
    person_id  uuid        REFERENCES people (id), -- who adds a passkey; null where somebody signs in
    challenge  bytea       NOT NULL, -- JSON
    expires_at timestamptz NOT NULL
);
CREATE INDEX challenges_by_age ON challenges (expires_at);

-- Programs that wait for somebody to let them act for them (RFC 8628), by the hash of their own secret; each is gone with the answer.
CREATE TABLE device_logins (
    hash        bytea       PRIMARY KEY CHECK (octet_length(hash) = 32),
    user_code   text        NOT NULL UNIQUE, -- that the program shows and its person confirms
    client      text        NOT NULL, -- what its machine calls itself
    created_at  timestamptz NOT NULL,
    expires_at  timestamptz NOT NULL,
    polled_at   timestamptz, -- when it has asked last
    person_id   uuid        REFERENCES people (id), -- who has answered
    allowed     boolean,
    business_id uuid,       -- as what it may act; the nil UUID for an operator
    role        text,
    staff_id    uuid
);
CREATE INDEX device_logins_by_age ON device_logins (expires_at);

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
    sequence     integer     NOT NULL DEFAULT 1, -- of its newest event
    PRIMARY KEY (business_id, id),
    CONSTRAINT tokens_staff_check CHECK ((role = 'staff') = (staff_id IS NOT NULL)),
    CONSTRAINT tokens_operator_check CHECK ((role = 'operator') = (business_id = '00000000-0000-0000-0000-000000000000'))
);
CREATE UNIQUE INDEX tokens_by_id ON tokens (id);
CREATE INDEX tokens_by_creator ON tokens (created_by) WHERE created_by IS NOT NULL;
CREATE INDEX tokens_by_age ON tokens (created_at, id);

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
    data         jsonb       NOT NULL, -- the subject after the change, without names of people
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
DROP TABLE event_feed;
DROP TABLE events;
DROP FUNCTION uuid_v7();
DROP TABLE tokens;
DROP TABLE device_logins;
DROP TABLE challenges;
DROP TABLE passkeys;
DROP TABLE links;
DROP TABLE sessions;
DROP TABLE members;
DROP TABLE people;
