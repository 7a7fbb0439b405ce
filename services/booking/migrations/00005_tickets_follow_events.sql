-- +goose Up

-- Tickets follow their event when the business publishes it at another time, or no longer offers it. former_starts are the starts that the
-- order had before: a cancellation is refunded by the best of all. withdrawn says that the event is no longer offered.
ALTER TABLE tickets ADD COLUMN former_starts timestamptz[] NOT NULL DEFAULT '{}';
ALTER TABLE tickets ADD COLUMN withdrawn boolean NOT NULL DEFAULT false;

-- The version of the offer that all tickets follow. A version is looked at again until all sales that were decided by the one before have
-- ended.
ALTER TABLE offer_versions ADD COLUMN followed bigint NOT NULL DEFAULT 0;
ALTER TABLE offer_versions ADD COLUMN published_at timestamptz NOT NULL DEFAULT now();
CREATE INDEX offer_versions_to_follow ON offer_versions (business_id) WHERE followed < version;

-- +goose Down
DROP INDEX offer_versions_to_follow;
ALTER TABLE offer_versions DROP COLUMN published_at;
ALTER TABLE offer_versions DROP COLUMN followed;
ALTER TABLE tickets DROP COLUMN withdrawn;
ALTER TABLE tickets DROP COLUMN former_starts;
