-- +goose Up

-- The charge of a booking that is paid online.
--
--   creating ──► open ──► paid
--       │          │
--       │          ▼
--       └───► cancelling ──► cancelled      paid after the booking was cancelled: refunding ──► refunded
--
-- creating: the time is reserved, and the charge may exist or not. cancelling: the booking is off, and the charge must
-- not be payable. What is not final is looked at again when due_at has come.
CREATE TABLE payments (
    business_id uuid        NOT NULL,
    booking_id  uuid        NOT NULL,
    status      text        NOT NULL CHECK (status IN ('creating', 'open', 'paid', 'cancelling', 'cancelled', 'refunding', 'refunded')),
    provider    text        NOT NULL,
    account     text        NOT NULL, -- the business's, with the provider
    reference   text,                 -- the provider's name of the charge; null where it is not known that there is one
    amount      bigint      NOT NULL CHECK (amount > 0), -- minor units of currency
    currency    text        NOT NULL,
    due_at      timestamptz NOT NULL,
    attempts    integer     NOT NULL DEFAULT 0, -- to end it, since it was last due for another reason
    created_at  timestamptz NOT NULL,
    updated_at  timestamptz NOT NULL,
    PRIMARY KEY (business_id, booking_id),
    FOREIGN KEY (business_id, booking_id) REFERENCES bookings (business_id, id) ON DELETE CASCADE
);

CREATE INDEX payments_due ON payments (due_at) WHERE status IN ('creating', 'open', 'cancelling', 'refunding');

-- A provider's notice names the charge, not the business.
CREATE INDEX payments_by_reference ON payments (provider, account, reference) WHERE reference IS NOT NULL;

-- +goose Down
DROP TABLE payments;
