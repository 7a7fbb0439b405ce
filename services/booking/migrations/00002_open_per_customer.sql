-- +goose Up

-- bookings.max_open_per_customer counts all that an address has open of what was taken on the booking page: bookings, orders of tickets and
-- reservations. Addresses are kept in their canonical spelling (libs/email) from now on, and those of before are brought into its form as
-- far as PostgreSQL can; where two were priced as a first booking each, both keep their spelling.
ALTER TABLE tickets ADD COLUMN on_page boolean NOT NULL DEFAULT false; -- ordered on the business's booking page

UPDATE tickets AS t SET on_page = true
WHERE EXISTS (SELECT FROM events AS e WHERE e.business_id = t.business_id AND e.subject_id = t.id AND e.actor_kind = 'page');

UPDATE bookings AS b SET customer_email = lower(normalize(b.customer_email, NFKC))
WHERE b.customer_email <> lower(normalize(b.customer_email, NFKC))
  AND NOT (b.first_booking AND b.status <> 'cancelled' AND EXISTS (
      SELECT FROM bookings AS o WHERE o.business_id = b.business_id AND o.id <> b.id AND o.first_booking AND o.status <> 'cancelled'
         AND lower(normalize(o.customer_email, NFKC)) = lower(normalize(b.customer_email, NFKC))));
UPDATE tickets SET customer_email = lower(normalize(customer_email, NFKC)) WHERE customer_email <> lower(normalize(customer_email, NFKC));

CREATE INDEX tickets_open_on_page ON tickets (business_id, lower(customer_email), ends_at) WHERE on_page AND status <> 'cancelled';

-- Reservations of the booking page that are open. Rental keeps reservations; it adds a row before it writes one, and removes the row when
-- the reservation is over. A row counts until ends_at, also where rental could not remove it.
CREATE TABLE open_reservations (
    business_id    uuid        NOT NULL,
    reservation_id uuid        NOT NULL,
    customer_email text        NOT NULL,
    ends_at        timestamptz NOT NULL,
    PRIMARY KEY (business_id, reservation_id)
);
CREATE INDEX open_reservations_by_customer ON open_reservations (business_id, lower(customer_email), ends_at);
CREATE INDEX open_reservations_by_end ON open_reservations (business_id, ends_at);

-- A statement that books, sells or reserves for a customer of the booking page calls this once its row is in. The lock makes those by one
-- address wait for each other; being volatile, the function then sees what was committed in the meantime.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION may_open(business uuid, booking uuid, email text, now timestamptz, most integer) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(business::text || ' ' || lower(email), 0));
    IF (SELECT count(*) >= most
        FROM (SELECT FROM bookings AS b
              WHERE b.business_id = business AND lower(b.customer_email) = lower(email) AND b.on_page
                AND b.status IN ('pending', 'confirmed') AND b.ends_at > now AND b.id <> booking
              UNION ALL
              SELECT FROM tickets AS t
              WHERE t.business_id = business AND lower(t.customer_email) = lower(email) AND t.on_page
                AND t.status <> 'cancelled' AND t.ends_at > now AND t.id <> booking
              UNION ALL
              SELECT FROM open_reservations AS r
              WHERE r.business_id = business AND lower(r.customer_email) = lower(email)
                AND r.ends_at > now AND r.reservation_id <> booking
              LIMIT most) AS others) THEN
        RAISE EXCEPTION 'the address has as much open as it may' USING ERRCODE = 'SM002';
    END IF;
    RETURN true;
END
$$;
-- +goose StatementEnd

-- +goose Down
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION may_open(business uuid, booking uuid, email text, now timestamptz, most integer) RETURNS boolean LANGUAGE plpgsql VOLATILE AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(business::text || ' ' || lower(email), 0));
    IF (SELECT count(*) >= most
        FROM (SELECT FROM bookings AS b
              WHERE b.business_id = business AND lower(b.customer_email) = lower(email) AND b.on_page
                AND b.status IN ('pending', 'confirmed') AND b.ends_at > now AND b.id <> booking
              LIMIT most) AS others) THEN
        RAISE EXCEPTION 'the address has as many open bookings as it may' USING ERRCODE = 'SM002';
    END IF;
    RETURN true;
END
$$;
-- +goose StatementEnd
DROP TABLE open_reservations;
ALTER TABLE tickets DROP COLUMN on_page;
