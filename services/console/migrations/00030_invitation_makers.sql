-- +goose Up
-- The person or token who invited: their invitations end with their right to invite. Null: the environment's token, or an invitation
-- from before this column.
ALTER TABLE invitations ADD COLUMN made_by uuid;
CREATE INDEX invitations_by_maker ON invitations (made_by);

-- +goose Down
ALTER TABLE invitations DROP COLUMN made_by;
