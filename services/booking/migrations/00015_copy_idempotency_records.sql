-- +goose Up

-- The triggers of the previous migration copy each change of idempotency_records. This migration copies the rows from before. If a row is
-- already there, a trigger has written it, and it is newer.
INSERT INTO made_writes (business_id, write_id, request_hash, answer, made_at)
SELECT business_id, book_write_id(business_id, principal, idempotency_key), request_hash,
       coalesce(confirmation, '{"in_progress": true}'), expires_at - interval '24 hours'
FROM idempotency_records
ON CONFLICT (business_id, write_id) DO NOTHING;

-- +goose Down

-- The copies stay: they expire like the records, and the previous release does not read them.
