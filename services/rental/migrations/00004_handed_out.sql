-- +goose Up

-- The units that a reservation was handed out with: [{rental_id, unit}], by the keys that the offer had then. They stay after the return.
ALTER TABLE reservations ADD COLUMN units jsonb NOT NULL DEFAULT '[]' CHECK (jsonb_typeof(units) = 'array');

-- The units that are out now. The key refuses to hand out one unit twice. Returning deletes the rows.
CREATE TABLE handed_out (
    business_id    uuid NOT NULL,
    rental_id      uuid NOT NULL,
    unit           text NOT NULL,
    reservation_id uuid NOT NULL,
    PRIMARY KEY (business_id, rental_id, unit),
    FOREIGN KEY (business_id, reservation_id) REFERENCES reservations (business_id, id) ON DELETE CASCADE
);

-- A return deletes the rows of its reservation.
CREATE INDEX handed_out_by_reservation ON handed_out (business_id, reservation_id);

-- +goose Down
DROP TABLE handed_out;
ALTER TABLE reservations DROP COLUMN units;
