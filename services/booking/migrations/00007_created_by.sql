-- +goose Up

-- The person or token of the owner's side that made a key or a feed; null for those made before, and by the environment's token.
ALTER TABLE api_keys ADD COLUMN created_by uuid;
ALTER TABLE calendar_feeds ADD COLUMN created_by uuid;

-- +goose Down
ALTER TABLE calendar_feeds DROP COLUMN created_by;
ALTER TABLE api_keys DROP COLUMN created_by;
