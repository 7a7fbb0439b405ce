CREATE UNIQUE INDEX events_by_position ON events (position) WHERE position IS NOT NULL;
CREATE INDEX events_to_number ON events (serial) WHERE position IS NULL;

-- The audit log of a business goes by time.
CREATE INDEX events_by_time ON events (business_id, at, id);

-- The one row that numbers events. A reader whose cursor lies before pruned has missed what was removed.
CREATE TABLE event_feed (
    one       boolean PRIMARY KEY DEFAULT true CHECK (one),
    position  bigint NOT NULL, -- the last that was given
    pruned    bigint NOT NULL  -- the last that was removed for its age
);
INSERT INTO event_feed (position, pruned) VALUES (0, 0);
