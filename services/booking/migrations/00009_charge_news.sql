-- +goose Up

-- news counts what the provider reported of a paid charge: the end of a refund, refunds that were made there, disputes. news_told is how much
-- of that rental has noted for the charge of a reservation, which it owns.
ALTER TABLE payments ADD COLUMN news bigint NOT NULL DEFAULT 0;
ALTER TABLE payments ADD COLUMN news_told bigint NOT NULL DEFAULT 0;
CREATE INDEX payments_with_news ON payments (updated_at) WHERE subject_kind = 'reservation' AND news_told < news;

-- +goose Down
DROP INDEX payments_with_news;
ALTER TABLE payments DROP COLUMN news_told;
ALTER TABLE payments DROP COLUMN news;
