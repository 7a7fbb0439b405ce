-- +goose Up

-- The descriptions as they are shown: sanitized when the version is published (semantics.md §6), by the release of the
-- sanitizer that is noted beside them. Null where a version was published before this or by an older release of the
-- service: what an older sanitizer made is never shown, the canonical text is sanitized again instead.
ALTER TABLE versions ADD COLUMN sanitizer integer;
-- The canonical JSON with sanitized descriptions; null where sanitizing changed nothing, as with most manifests.
ALTER TABLE versions ADD COLUMN sanitized json;
ALTER TABLE versions ADD CONSTRAINT versions_sanitized_check CHECK (sanitized IS NULL OR sanitizer IS NOT NULL);

-- +goose Down
ALTER TABLE versions DROP COLUMN sanitized, DROP COLUMN sanitizer;
