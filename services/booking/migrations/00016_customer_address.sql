-- +goose Up

-- customer_address is the address of the customer at which the booking takes place: {street, postal_code, city, country,
-- note}. It is null for bookings at other kinds of locations, and after the customer is anonymized. The constraint is
-- not valid, so that no scan of the bookings locks the table. It applies to each new row, and the column is null in the others.
ALTER TABLE bookings ADD COLUMN customer_address jsonb;
ALTER TABLE bookings ADD CONSTRAINT bookings_customer_address_check CHECK (jsonb_typeof(customer_address) = 'object') NOT VALID;

-- +goose Down
ALTER TABLE bookings DROP COLUMN customer_address;
