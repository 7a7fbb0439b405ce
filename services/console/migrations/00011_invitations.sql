-- +goose Up

-- Invitations of known people, who join by accepting. Until then the business sees the address alone.
CREATE TABLE invitations (
    business_id uuid        NOT NULL,
    email       text        NOT NULL CHECK (email <> ''), -- in small letters
    id          uuid        NOT NULL UNIQUE,
    role        text        NOT NULL CHECK (role IN ('owner', 'manager', 'desk', 'staff', 'viewer')),
    staff_id    uuid,
    hash        bytea       UNIQUE CHECK (octet_length(hash) = 32), -- of the secret in the mailed link; null until one is mailed
    created_at  timestamptz NOT NULL,
    expires_at  timestamptz NOT NULL,
    sequence    integer     NOT NULL DEFAULT 1, -- of its newest event
    PRIMARY KEY (business_id, email),
    CONSTRAINT invitations_staff_check CHECK ((role = 'staff') = (staff_id IS NOT NULL))
);
CREATE INDEX invitations_by_email ON invitations (email);
CREATE INDEX invitations_by_age ON invitations (expires_at);

-- +goose Down
DROP TABLE invitations;
