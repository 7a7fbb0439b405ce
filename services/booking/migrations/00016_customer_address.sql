-- +goose Up

-- customer_address is the address of the customer at which the booking takes place: {street, postal_code, city, country,
-- note}. It is null for bookings at other kinds of locations, and after the customer is anonymized.
ALTER TABLE bookings ADD COLUMN customer_address jsonb CHECK (jsonb_typeof(customer_address) = 'object');

-- +goose Down
ALTER TABLE bookings DROP COLUMN customer_address;
