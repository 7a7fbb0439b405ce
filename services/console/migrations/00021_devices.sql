-- +goose Up

-- What the machine calls itself whose program was let act for a person by `slotmesh login`; null for other tokens. Such a token is one of the person's
-- own: it ends with their password, and after 30 days without use.
ALTER TABLE tokens ADD COLUMN device text;
CREATE INDEX tokens_of_devices ON tokens (created_by) WHERE device IS NOT NULL AND revoked_at IS NULL;

-- +goose Down
DROP INDEX tokens_of_devices;
ALTER TABLE tokens DROP COLUMN device;
