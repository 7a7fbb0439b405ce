-- +goose Up

-- Places whose address a published version of an offer changed, if the owner chose to notify the customers. A job records an event for each
-- future booking at the place, in pages. after_id is the last booking for which it did. The sweep deletes rows two days after told_at. By then,
-- the idempotency result of the request has expired.
CREATE TABLE address_changes (
    business_id    uuid        NOT NULL,
    version        bigint      NOT NULL,
    location_id    uuid        NOT NULL,
    is_default     boolean     NOT NULL, -- true: bookings without a location take place here
    former_address text        NOT NULL,
    requested_at   timestamptz NOT NULL,
    after_id       uuid        NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
    told_at        timestamptz,          -- null: not all bookings have an event yet
    PRIMARY KEY (business_id, version, location_id)
);
CREATE INDEX address_changes_pending ON address_changes (requested_at) WHERE told_at IS NULL;

-- +goose Down
DROP TABLE address_changes;
