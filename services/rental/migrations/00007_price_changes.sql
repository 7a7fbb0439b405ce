-- +goose Up

-- price_changes are the pricing rules that changed a price of the reservation, each once: [{rule, kind, label}].
ALTER TABLE reservations ADD COLUMN price_changes jsonb NOT NULL DEFAULT '[]';

-- +goose Down
ALTER TABLE reservations DROP COLUMN price_changes;
