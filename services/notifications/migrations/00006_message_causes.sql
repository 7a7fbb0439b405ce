-- +goose Up

-- The limits of one recipient do not apply to notices to verified members of the business.
ALTER TABLE messages ADD COLUMN unlimited boolean NOT NULL DEFAULT false;
UPDATE messages SET unlimited = true WHERE kind = 'owner_notice';

-- The business itself has caused the message: a part of its messages of a day stays for these.
ALTER TABLE messages ADD COLUMN by_business boolean NOT NULL DEFAULT false;

-- The messages to one recipient, the newest of which replaces others.
CREATE INDEX messages_to ON messages (business_id, lower(recipient), position);

-- +goose Down
DROP INDEX messages_to;
ALTER TABLE messages DROP COLUMN by_business;
ALTER TABLE messages DROP COLUMN unlimited;
