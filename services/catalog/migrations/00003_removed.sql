-- +goose Up

-- A removed business keeps its row, without a slug: whoever publishes under the slug next is another business, with
-- another id. The row stays for good, so that its id, by which bookings and API keys of others are told apart from its
-- own, never comes back. The slug that it had says how many businesses had it before, and from which number on versions
-- count.
ALTER TABLE businesses
    ALTER COLUMN slug DROP NOT NULL,
    ADD COLUMN removed_slug text COLLATE "C",
    ADD COLUMN removed_at timestamptz;

-- Businesses that were removed before this are forgotten by the other services as if it were now.
UPDATE businesses SET removed_slug = slug, slug = NULL, removed_at = now() WHERE head IS NULL;

ALTER TABLE businesses
    ADD CONSTRAINT businesses_removed_check CHECK (
        num_nulls(removed_slug, removed_at) IN (0, 2) AND (slug IS NULL) = (removed_slug IS NOT NULL)) NOT VALID;
ALTER TABLE businesses VALIDATE CONSTRAINT businesses_removed_check;
CREATE INDEX businesses_by_removed_slug ON businesses (removed_slug) WHERE removed_slug IS NOT NULL;

-- +goose Down
UPDATE businesses b SET slug = removed_slug
WHERE removed_slug IS NOT NULL AND NOT EXISTS (SELECT FROM businesses o WHERE o.slug = b.removed_slug)
  AND last_version = (SELECT max(last_version) FROM businesses o WHERE o.removed_slug = b.removed_slug);
DELETE FROM businesses WHERE slug IS NULL;
DROP INDEX businesses_by_removed_slug;
ALTER TABLE businesses DROP CONSTRAINT businesses_removed_check;
ALTER TABLE businesses DROP COLUMN removed_slug, DROP COLUMN removed_at, ALTER COLUMN slug SET NOT NULL;
