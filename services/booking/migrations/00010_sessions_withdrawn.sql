-- +goose Up

-- withdrawn is true if the business's newest offer has no class session at the time of the booking.
ALTER TABLE bookings ADD COLUMN withdrawn boolean NOT NULL DEFAULT false;

-- +goose Down
ALTER TABLE bookings DROP COLUMN withdrawn;
