-- +goose Up

-- location is the place of the booking: {id, kind, name, link?, secret?}. It is null if the business has no locations.
-- link is the template of a meeting link; secret identifies the secret from which its code is derived.
ALTER TABLE bookings ADD COLUMN location jsonb CHECK (jsonb_typeof(location) = 'object');

-- stay is the time for which a booking keeps a staff member at location_id: the time of the services without buffers,
-- and after it change_minutes, in which the member can change the location. All three are null for capacity units, and
-- for businesses without locations.
ALTER TABLE occupied_time ADD COLUMN location_id uuid;
ALTER TABLE occupied_time ADD COLUMN stay tstzrange;
ALTER TABLE occupied_time ADD COLUMN change_minutes integer CHECK (change_minutes >= 0);
ALTER TABLE occupied_time ADD CHECK ((location_id IS NULL) = (stay IS NULL) AND (stay IS NULL) = (change_minutes IS NULL)
    AND (stay IS NULL OR NOT isempty(stay) AND lower_inc(stay) AND NOT upper_inc(stay) AND NOT lower_inf(stay)
        AND NOT upper_inf(stay)));

-- never_two_places refuses two bookings of one member at different locations, unless the time to change the location
-- lies between them. never_twice compares the buffers of the same bookings; therefore the larger of both counts. Of two
-- bookings, the earlier one decides by its change_minutes. The constraint has no entries for rows without a location.
-- Rows of classes have one holder, so that classes do not exclude each other.
ALTER TABLE occupied_time ADD CONSTRAINT never_two_places EXCLUDE USING gist
    (business_id WITH =, stay WITH &&, resource_id WITH =, lane WITH =, location_id WITH <>, holder WITH <>) WHERE (location_id IS NOT NULL);

-- +goose Down
ALTER TABLE occupied_time DROP CONSTRAINT never_two_places;
ALTER TABLE occupied_time DROP COLUMN change_minutes;
ALTER TABLE occupied_time DROP COLUMN stay;
ALTER TABLE occupied_time DROP COLUMN location_id;
ALTER TABLE bookings DROP COLUMN location;
