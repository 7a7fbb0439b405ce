-- +goose Up

-- The person or token of the owner's side that made an endpoint; null for those made before, and by the environment's token.
ALTER TABLE webhook_endpoints ADD COLUMN created_by uuid;

-- +goose Down
ALTER TABLE webhook_endpoints DROP COLUMN created_by;
