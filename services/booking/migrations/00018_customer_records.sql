-- +goose Up

-- The notes of a business about its customers. Sales alone identify a customer without a row.
CREATE TABLE customer_records (
    business_id uuid        NOT NULL,
    id          uuid        NOT NULL,
    name        text        NOT NULL, -- '': the newest sale has the name
    language    text        NOT NULL,
    notes       text        NOT NULL,
    tags        text[]      NOT NULL,
    import_id   uuid,                 -- the import that made the record; null: a person did
    created_at  timestamptz NOT NULL,
    changed_at  timestamptz NOT NULL, -- as created_at, if the record has not changed
    PRIMARY KEY (business_id, id)
);
CREATE INDEX customer_records_by_change ON customer_records (business_id, changed_at);
CREATE INDEX customer_records_by_import ON customer_records (business_id, import_id) WHERE import_id IS NOT NULL;

-- The addresses by which sales belong to a record. address is the canonical spelling of an e-mail address, or the digits and the plus sign of a
-- telephone number. An address belongs to one record.
CREATE TABLE customer_addresses (
    business_id uuid             NOT NULL,
    address     text COLLATE "C" NOT NULL CHECK (address <> ''),
    record_id   uuid             NOT NULL,
    spelling    text             NOT NULL, -- as people wrote it
    PRIMARY KEY (business_id, address),
    FOREIGN KEY (business_id, record_id) REFERENCES customer_records ON DELETE CASCADE
);
CREATE INDEX customer_addresses_by_record ON customer_addresses (business_id, record_id);

-- Merges that can be undone. merged is the record that became a part of record_id, with its addresses; kept is what record_id had before.
CREATE TABLE customer_merges (
    business_id uuid        NOT NULL,
    id          uuid        NOT NULL,
    record_id   uuid        NOT NULL,
    merged      jsonb       NOT NULL,
    kept        jsonb       NOT NULL,
    merged_at   timestamptz NOT NULL,
    PRIMARY KEY (business_id, id),
    FOREIGN KEY (business_id, record_id) REFERENCES customer_records ON DELETE CASCADE
);
CREATE INDEX customer_merges_by_record ON customer_merges (business_id, record_id);

-- Imports of records, without data of customers.
CREATE TABLE customer_imports (
    business_id uuid        NOT NULL,
    id          uuid        NOT NULL,
    imported_at timestamptz NOT NULL,
    customers   integer     NOT NULL, -- number of records that the import made
    undone_at   timestamptz,          -- null: the import was not undone
    PRIMARY KEY (business_id, id)
);

-- +goose Down
DROP TABLE customer_imports;
DROP TABLE customer_merges;
DROP TABLE customer_addresses;
DROP TABLE customer_records;
