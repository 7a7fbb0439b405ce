-- +goose Up

-- search_text is the form in which the owner's search compares texts: in small letters, without accents and invisible signs, in one form of
-- composed and decomposed letters. It needs no extension. Small letters come from ICU, which knows all scripts in a database of locale C;
-- where PostgreSQL is built without ICU, they come from the database's own locale.
-- +goose StatementBegin
DO $migration$
BEGIN
    EXECUTE format($create$
CREATE FUNCTION search_text(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $body$
    SELECT CASE octet_length(value) WHEN char_length(value) THEN lower(value COLLATE "C") COLLATE "default"
        ELSE replace(replace(replace(replace(translate(lower(regexp_replace(normalize(value, NFKD),
            '[\u00ad\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670'
            || '\u1ab0-\u1aff\u1dc0-\u1dff\u200b-\u200f\u202a-\u202e\u2060-\u2069\u20d0-\u20ff\ufe20-\ufe2f\ufeff]', '', 'g') COLLATE %s),
            'ςıøłđðħŧ', 'σiolddht'), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'), 'þ', 'th') COLLATE "default" END
$body$ $create$,
        CASE WHEN EXISTS (SELECT FROM pg_catalog.pg_collation WHERE collname = 'und-x-icu' AND collnamespace = 'pg_catalog'::regnamespace)
             THEN 'pg_catalog."und-x-icu"' ELSE 'pg_catalog."default"' END);
END
$migration$;
-- +goose StatementEnd
GRANT EXECUTE ON FUNCTION search_text(text) TO PUBLIC;

-- +goose Down
DROP FUNCTION search_text(text);
