-- +goose Up

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

-- Which write made the latest move, so that its repetition is answered as it was; null before there were such names.
ALTER TABLE bookings ADD COLUMN moved_by uuid;
ALTER TABLE tickets ADD COLUMN cancelled_by uuid;

-- What the request that made the row was, so that another one under its Idempotency-Key is told so. Null where the row was made
-- without one.
ALTER TABLE tickets ADD COLUMN request_hash bytea CHECK (octet_length(request_hash) = 32);
ALTER TABLE api_keys ADD COLUMN request_hash bytea CHECK (octet_length(request_hash) = 32);

-- +goose Down
ALTER TABLE api_keys DROP COLUMN request_hash;
ALTER TABLE tickets DROP COLUMN request_hash;
ALTER TABLE tickets DROP COLUMN cancelled_by;
ALTER TABLE bookings DROP COLUMN moved_by;
DROP FUNCTION may_write(uuid, uuid, timestamptz);
DROP TABLE refused_writes;
