-- +goose Up

-- What a provider tells of a payment later: refunds that were made there and not here, which count in refunded as well, and disputes, by
-- which the customer has the money taken back through their bank.
ALTER TABLE payments ADD COLUMN refunded_elsewhere bigint NOT NULL DEFAULT 0 CHECK (refunded_elsewhere >= 0);
ALTER TABLE payments ADD COLUMN dispute_status text CHECK (dispute_status IN ('open', 'won', 'lost'));
ALTER TABLE payments ADD COLUMN dispute_reason text;

-- +goose Down
ALTER TABLE payments DROP COLUMN dispute_reason;
ALTER TABLE payments DROP COLUMN dispute_status;
ALTER TABLE payments DROP COLUMN refunded_elsewhere;
