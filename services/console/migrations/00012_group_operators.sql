-- +goose Up

-- When the identity provider vouched last for a person whom a group makes an operator; null for all other people. The right lapses 12 hours later.
ALTER TABLE people ADD COLUMN operator_vouched_at timestamptz;
CREATE INDEX people_operators ON people (created_at, id) WHERE operator;

-- +goose Down
ALTER TABLE people DROP COLUMN operator_vouched_at;
