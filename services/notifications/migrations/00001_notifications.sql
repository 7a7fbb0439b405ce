-- +goose Up

-- How far the feed of each service was taken. One replica reads a feed at a time: the one that holds the row until reader_until, which
-- it prolongs as it reads. The cursor moves in the transaction that writes what the events lead to, from the value that the page was
-- asked with; a replica that lost the row meanwhile moves nothing.
CREATE TABLE feeds (
    name         text        PRIMARY KEY,
    cursor       text        NOT NULL DEFAULT '', -- '': from the oldest event that is kept
    reader       uuid,
    reader_until timestamptz NOT NULL DEFAULT '-infinity', -- by the database's clock, as replicas compare it
    caught_up_at timestamptz NOT NULL                      -- by the service's clock: everything until then was taken
);

-- +goose Down
DROP TABLE feeds;
