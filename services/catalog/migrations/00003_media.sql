-- +goose Up

-- One row for each uploaded file that the store of files may have, whichever businesses use it.
CREATE TABLE media_files (
    sha256     text        COLLATE "C" PRIMARY KEY CHECK (sha256 ~ '^[0-9a-f]{64}$'),
    -- The time of the last upload. A file is deleted only a while after it, because an upload writes the file before its row of media.
    touched_at timestamptz NOT NULL
);

-- The uploaded pictures of each business.
CREATE TABLE media (
    business_id uuid        NOT NULL REFERENCES businesses (id),
    sha256      text        COLLATE "C" NOT NULL REFERENCES media_files (sha256),
    mime        text        NOT NULL,                       -- of the uploaded file
    bytes       bigint      NOT NULL CHECK (bytes > 0),     -- of all sizes in all formats
    width       integer     NOT NULL CHECK (width > 0),     -- of the upright original, in pixels
    height      integer     NOT NULL CHECK (height > 0),
    colour      text        NOT NULL CHECK (colour ~ '^#[0-9a-f]{6}$'),
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (business_id, sha256)
);
CREATE INDEX media_by_file ON media (sha256);

-- The pictures that the version shows, by id, as other services read them; null if there are none.
ALTER TABLE versions ADD COLUMN pictures jsonb;

-- +goose Down
ALTER TABLE versions DROP COLUMN pictures;
DROP TABLE media;
DROP TABLE media_files;
