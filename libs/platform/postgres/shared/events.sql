-- One event for each change, written by the statement that makes the change. The key allows one event for each sequence of a subject.
--
-- Transactions commit in another order than they write, so a number that a row is given when it is written cannot be a reader's
-- cursor. position is null until the feed is read: then rows that are committed are numbered from event_feed, under its row lock.
-- Within one numbering rows go by serial, which for one subject follows the order of its row's lock.
CREATE TABLE events (
    business_id  uuid        NOT NULL,
    subject_id   uuid        NOT NULL,
    sequence     integer     NOT NULL, -- counts per subject, from 1
    subject_kind text        NOT NULL,
    id           uuid        NOT NULL DEFAULT uuid_v7(),
    type         text        NOT NULL,
    at           timestamptz NOT NULL, -- by the clock of the service
    actor_kind   text        NOT NULL,
    actor_id     uuid,
    data         jsonb       NOT NULL, -- the subject's row after the change
    serial       bigint      GENERATED ALWAYS AS IDENTITY,
    position     bigint,
    PRIMARY KEY (business_id, subject_id, sequence)
);
