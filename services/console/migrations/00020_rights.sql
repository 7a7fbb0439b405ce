-- +goose Up

-- The root of a token is the person who made it, or made the token that it was made with, and so on; without a
-- person, the first token of that chain. Whatever is taken from a root is taken from all that act for it, so one lock
-- of the root guards them. A release that does not know the column leaves it null; the maker, or the token itself,
-- counts then.
ALTER TABLE tokens ADD COLUMN root_id uuid;
WITH RECURSIVE chain AS (
    SELECT t.id, coalesce(t.created_by, t.id) AS root_id FROM tokens AS t
    WHERE t.created_by IS NULL OR NOT EXISTS (SELECT FROM tokens AS parent WHERE parent.id = t.created_by)
    UNION ALL SELECT t.id, chain.root_id FROM tokens AS t JOIN chain ON t.created_by = chain.id
)
UPDATE tokens SET root_id = chain.root_id FROM chain WHERE chain.id = tokens.id;

-- Writes that are under way in other services for a principal whose rights were checked. Taking rights away is
-- answered when the writes of their root have ended, or can no longer happen. A row is removed when its write ends;
-- one that a crash leaves counts until its end.
CREATE TABLE writes_under_way (
    id      uuid        PRIMARY KEY,
    root_id uuid        NOT NULL,
    ends_at timestamptz NOT NULL -- by the database's clock
);
CREATE INDEX writes_under_way_by_root ON writes_under_way (root_id);

-- +goose Down
DROP TABLE writes_under_way;
ALTER TABLE tokens DROP COLUMN root_id;
