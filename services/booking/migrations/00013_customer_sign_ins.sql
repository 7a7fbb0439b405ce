-- +goose Up

-- Sign-ins of customers to the page with all own bookings at one business. A row is written for each requested link, whether the business
-- knows the address or not. While session_hash is null, the mailed link may be used; using it sets session_hash, so that it is used once.
-- Rows end with expires_at and are then deleted.
CREATE TABLE customer_sign_ins (
    business_id    uuid        NOT NULL,
    id             uuid        NOT NULL,
    customer_email text        NOT NULL, -- canonical spelling
    locale         text        NOT NULL, -- language of the mail
    link_hash      bytea       NOT NULL CHECK (octet_length(link_hash) = 32),    -- SHA-256 of the token of the mailed link
    session_hash   bytea       CHECK (octet_length(session_hash) = 32),          -- SHA-256 of the session's secret; null: link is not used
    expires_at     timestamptz NOT NULL, -- end of the link, and later of the session
    PRIMARY KEY (business_id, id)
);
CREATE UNIQUE INDEX customer_sign_ins_by_link ON customer_sign_ins (business_id, link_hash);
CREATE UNIQUE INDEX customer_sign_ins_by_session ON customer_sign_ins (business_id, session_hash) WHERE session_hash IS NOT NULL;
CREATE INDEX customer_sign_ins_by_customer ON customer_sign_ins (business_id, customer_email);
CREATE INDEX customer_sign_ins_by_end ON customer_sign_ins (expires_at);

-- +goose Down
DROP TABLE customer_sign_ins;
