-- +goose Up

-- not_sent replaces kept: without a mail server, of a sandbox, or replaced by a newer message. held waits until a limit allows it.
ALTER TABLE messages DROP CONSTRAINT messages_status_check;
UPDATE messages SET status = 'not_sent' WHERE status = 'kept';
ALTER TABLE messages ADD CONSTRAINT messages_status_check CHECK (status IN ('not_sent', 'queued', 'held', 'sent', 'failed'));

-- The time of the newest attempt. The limits count it.
ALTER TABLE messages ADD COLUMN attempted_at timestamptz;
CREATE INDEX messages_by_attempt ON messages (business_id, attempted_at) WHERE attempted_at IS NOT NULL;
CREATE INDEX messages_by_recipient ON messages (business_id, lower(recipient), attempted_at) WHERE attempted_at IS NOT NULL;

-- Messages that wait, in the order in which they go to one recipient about one subject.
CREATE INDEX messages_unsent ON messages (business_id, about_id, position) WHERE status IN ('queued', 'held');
DROP INDEX messages_waiting;

-- Lanes whose holders may have died.
CREATE INDEX webhook_endpoints_held ON webhook_endpoints (lane_until) WHERE lane IS NOT NULL;

-- +goose Down
DROP INDEX webhook_endpoints_held;
CREATE INDEX messages_waiting ON messages (business_id, about_id, position) WHERE status = 'queued';
DROP INDEX messages_unsent;
DROP INDEX messages_by_recipient;
DROP INDEX messages_by_attempt;
ALTER TABLE messages DROP COLUMN attempted_at;
ALTER TABLE messages DROP CONSTRAINT messages_status_check;
UPDATE messages SET status = 'kept' WHERE status IN ('not_sent', 'held');
ALTER TABLE messages ADD CONSTRAINT messages_status_check CHECK (status IN ('kept', 'queued', 'sent', 'failed'));
