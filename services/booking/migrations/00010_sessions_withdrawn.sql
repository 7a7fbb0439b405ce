-- +goose Up

-- withdrawn says that the class session of a booking does not take place at its time any more, by the business's newest offer.
ALTER TABLE bookings ADD COLUMN withdrawn boolean NOT NULL DEFAULT false;

-- +goose Down
ALTER TABLE bookings DROP COLUMN withdrawn;
