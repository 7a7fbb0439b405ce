-- +goose Up

-- Addresses are kept in their canonical spelling (libs/email) from now on; those of before are brought into its form as far as PostgreSQL can.
UPDATE reservations SET customer_email = lower(normalize(customer_email, NFKC)) WHERE customer_email <> lower(normalize(customer_email, NFKC));

-- What was reserved on the booking page counts against bookings.max_open_per_customer, which booking keeps. Once it is over, booking is
-- told so, and it is no longer counted.
ALTER TABLE reservations ADD COLUMN counted boolean NOT NULL DEFAULT false;
CREATE INDEX reservations_to_uncount ON reservations (business_id, id) WHERE counted AND status IN ('returned', 'cancelled');

-- +goose Down
ALTER TABLE reservations DROP COLUMN counted;
