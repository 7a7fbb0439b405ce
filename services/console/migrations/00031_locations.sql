-- +goose Up

-- The ids of the locations to which a member is limited; empty for a member who is not limited. A program's token, and the
-- sign-in that waits for it, copy the locations of their person. An id stays after its location is removed.
ALTER TABLE members ADD COLUMN locations uuid[] NOT NULL DEFAULT '{}';
ALTER TABLE members ADD CONSTRAINT members_locations_check CHECK (role <> 'owner' OR locations = '{}');
ALTER TABLE invitations ADD COLUMN locations uuid[] NOT NULL DEFAULT '{}';
ALTER TABLE invitations ADD CONSTRAINT invitations_locations_check CHECK (role <> 'owner' OR locations = '{}');
ALTER TABLE tokens ADD COLUMN locations uuid[] NOT NULL DEFAULT '{}';
ALTER TABLE device_logins ADD COLUMN locations uuid[] NOT NULL DEFAULT '{}';

-- +goose Down
ALTER TABLE device_logins DROP COLUMN locations;
ALTER TABLE tokens DROP COLUMN locations;
ALTER TABLE invitations DROP COLUMN locations;
ALTER TABLE members DROP COLUMN locations;
