-- +goose NO TRANSACTION

-- The changes of a next release to a table in use, by the rules in docs/developers/adding.md. Each step runs alone, so that no
-- lock is held longer than its step, and each step can be repeated after a failure.

-- +goose Up
ALTER TABLE bookings ADD COLUMN IF NOT EXISTS next_release text NOT NULL DEFAULT 'not known to the release before';
ALTER TABLE bookings DROP CONSTRAINT IF EXISTS bookings_next_release;
ALTER TABLE bookings ADD CONSTRAINT bookings_next_release CHECK (next_release <> '') NOT VALID;
ALTER TABLE bookings VALIDATE CONSTRAINT bookings_next_release;
DROP INDEX CONCURRENTLY IF EXISTS bookings_by_next_release;
CREATE INDEX CONCURRENTLY bookings_by_next_release ON bookings (business_id, next_release);

-- +goose Down
ALTER TABLE bookings DROP COLUMN next_release;
