-- +goose Up

-- Whether a payment confirms its booking: where the business confirms by hand, the booking waits for that, paid or not. Bookings of before
-- were sold under the other rule, and keep it.
ALTER TABLE payments ADD COLUMN confirms boolean NOT NULL DEFAULT true;

-- +goose Down
ALTER TABLE payments DROP COLUMN confirms;
