-- +goose Up

-- Reservations of customers without an e-mail address, by the digits of the telephone number (libs/platform/postgres, CustomerPhone).
CREATE INDEX reservations_by_phone ON reservations (business_id, (regexp_replace(customer_phone, '[^0-9+]', '', 'g')))
    WHERE coalesce(customer_email, '') = '' AND customer_phone IS NOT NULL;

-- +goose Down
DROP INDEX reservations_by_phone;
