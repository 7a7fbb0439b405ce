-- +goose Up

-- withdrawn says that the business's newest offer no longer has what is reserved.
ALTER TABLE reservations ADD COLUMN withdrawn boolean NOT NULL DEFAULT false;

-- +goose Down
ALTER TABLE reservations DROP COLUMN withdrawn;
