-- +goose Up

-- The idempotency locks and confirmations of bookings are rows of made_writes, as the results of all other writes are. Only the previous
-- release uses idempotency_records. While processes of both releases run, triggers keep a key from booking twice: made_writes gets each
-- change of idempotency_records, and a key of made_writes cannot be acquired in idempotency_records. A later release drops the table.
-- The next migration copies the present rows. It is separate, because creating a trigger locks the table until the migration ends.

-- The id of a write, as WriteID of libs/platform/postgres computes it.
-- +goose StatementBegin
CREATE FUNCTION book_write_id(business uuid, principal text, key text) RETURNS uuid LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    words bytea := '';
    hash  bytea;
    word  text;
BEGIN
    FOREACH word IN ARRAY ARRAY['book', business::text, principal, key] LOOP
        words := words || int4send(octet_length(word)) || convert_to(word, 'UTF8');
    END LOOP;
    hash := substr(sha256(words), 1, 16);
    hash := set_byte(hash, 6, (get_byte(hash, 6) & 15) | 128);
    hash := set_byte(hash, 8, (get_byte(hash, 8) & 63) | 128);
    RETURN encode(hash, 'hex')::uuid;
END
$$;
-- +goose StatementEnd

-- Whether the row of made_writes has neither a result nor a lock that counts, for a request that acquires its lock at the instant acquired.
CREATE FUNCTION is_free(w made_writes, acquired timestamptz, duration interval) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN w.made_at <= acquired - interval '24 hours' OR w.answer = '{"in_progress": true}' AND w.made_at <= acquired - duration;

-- The previous release answers a request whose row is not inserted with 409 idempotency_in_progress.
-- +goose StatementBegin
CREATE FUNCTION check_made_write() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    acquired timestamptz := NEW.expires_at - interval '24 hours';
BEGIN
    IF EXISTS (SELECT FROM made_writes AS w
               WHERE w.business_id = NEW.business_id AND w.write_id = book_write_id(NEW.business_id, NEW.principal, NEW.idempotency_key)
                 AND NOT is_free(w, acquired, NEW.claimed_until - acquired)) THEN
        RETURN NULL;
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION copy_to_made_writes() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    acquired timestamptz;
BEGIN
    IF TG_OP = 'DELETE' THEN
        DELETE FROM made_writes
        WHERE business_id = OLD.business_id AND write_id = book_write_id(OLD.business_id, OLD.principal, OLD.idempotency_key)
          AND made_at = OLD.expires_at - interval '24 hours';
        RETURN NULL;
    END IF;
    acquired := NEW.expires_at - interval '24 hours';
    INSERT INTO made_writes AS w (business_id, write_id, request_hash, answer, made_at)
    VALUES (NEW.business_id, book_write_id(NEW.business_id, NEW.principal, NEW.idempotency_key), NEW.request_hash,
            coalesce(NEW.confirmation, '{"in_progress": true}'), acquired)
    ON CONFLICT (business_id, write_id) DO UPDATE
        SET request_hash = excluded.request_hash, answer = excluded.answer, made_at = excluded.made_at
        WHERE w.made_at = acquired OR is_free(w, acquired, NEW.claimed_until - acquired);
    IF NOT FOUND THEN
        RAISE EXCEPTION 'another request acquired the idempotency lock';
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

CREATE TRIGGER check_made_write BEFORE INSERT ON idempotency_records FOR EACH ROW EXECUTE FUNCTION check_made_write();
CREATE TRIGGER copy_to_made_writes AFTER INSERT OR UPDATE OR DELETE ON idempotency_records
    FOR EACH ROW EXECUTE FUNCTION copy_to_made_writes();

-- +goose Down
DROP TRIGGER copy_to_made_writes ON idempotency_records;
DROP TRIGGER check_made_write ON idempotency_records;
DROP FUNCTION copy_to_made_writes();
DROP FUNCTION check_made_write();
DROP FUNCTION is_free(made_writes, timestamptz, interval);
DROP FUNCTION book_write_id(uuid, text, text);
