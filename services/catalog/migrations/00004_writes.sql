-- +goose Up

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
