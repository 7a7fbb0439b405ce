-- +goose Up

-- The time zone in which a booking or an order of tickets was sold, as its currency: a later change of the business's does not rewrite what
-- was agreed. '' is one of before this column, which is shown in the zone that the business has today.
ALTER TABLE bookings ADD COLUMN timezone text NOT NULL DEFAULT '';
ALTER TABLE tickets ADD COLUMN timezone text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE tickets DROP COLUMN timezone;
ALTER TABLE bookings DROP COLUMN timezone;
