-- +goose NO TRANSACTION
-- +goose Up

-- Reservations of customers without an e-mail address, by the digits of the telephone number (libs/platform/postgres, CustomerPhone).
DROP INDEX CONCURRENTLY IF EXISTS reservations_by_phone;
CREATE INDEX CONCURRENTLY reservations_by_phone ON reservations (business_id, (regexp_replace(translate(customer_phone, '٠١٢٣٤٥٦٧٨٩۰۱۲۳۴۵۶۷۸۹०१२३४५६७८९০১২৩৪৫৬৭৮৯๐๑๒๓๔๕๖๗๘๙０１２３４５６７８９',
        repeat('0123456789', 6)), '[^0-9+]', '', 'g')))
    WHERE coalesce(customer_email, '') = '' AND customer_phone IS NOT NULL;

-- +goose Down
DROP INDEX CONCURRENTLY IF EXISTS reservations_by_phone;
