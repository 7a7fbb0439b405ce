-- +goose Up

-- price_changes are the pricing rules that changed a price of the order, each once: [{rule, kind, label}].
ALTER TABLE tickets ADD COLUMN price_changes jsonb NOT NULL DEFAULT '[]';

-- +goose Down
ALTER TABLE tickets DROP COLUMN price_changes;
