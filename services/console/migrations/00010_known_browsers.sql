-- +goose Up

-- Browsers in which a person signed in before, by the hash of the secret that each keeps. Their wrong passwords count apart from those of
-- strangers. Nothing can be done with such a secret but that.
CREATE TABLE known_browsers (
    person_id    uuid        NOT NULL REFERENCES people (id),
    hash         bytea       NOT NULL CHECK (octet_length(hash) = 32),
    signed_in_at timestamptz NOT NULL, -- last
    PRIMARY KEY (person_id, hash)
);
CREATE INDEX known_browsers_by_age ON known_browsers (signed_in_at);

-- +goose Down
DROP TABLE known_browsers;
