-- +goose Up

-- The time zone in which a reservation was made: a later change of the business's does not rewrite what was agreed. '' is one of before this
-- column, which is shown in the zone that the business has today.
ALTER TABLE reservations ADD COLUMN timezone text NOT NULL DEFAULT '';

-- +goose Down
ALTER TABLE reservations DROP COLUMN timezone;
