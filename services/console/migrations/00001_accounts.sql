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

-- include uuid_v7

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
-- include event_feed

-- business_id is the nil UUID for what is made for no business.

-- include refused_writes

-- include may_write

-- include made_writes

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
