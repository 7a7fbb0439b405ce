-- +goose Up

-- Which business may name an account of a payment provider. An operator binds an account by publishing a manifest that names it
-- (docs/decisions/010). The row stays when the business names the account no longer.
CREATE TABLE payment_accounts (
    provider    text COLLATE "C" NOT NULL,
    account     text COLLATE "C" NOT NULL,
    business_id uuid NOT NULL REFERENCES businesses (id),
    bound_at    timestamptz NOT NULL,
    PRIMARY KEY (provider, account)
);
CREATE INDEX payment_accounts_by_business ON payment_accounts (business_id);

-- A business keeps the account that its newest version names. An account that several businesses name stays unbound: an operator
-- decides whose it is.
INSERT INTO payment_accounts (provider, account, business_id, bound_at)
SELECT named.key, named.value, min(versions.business_id::text)::uuid, min(versions.published_at)
FROM businesses
JOIN versions ON versions.business_id = businesses.id AND versions.version = businesses.head,
LATERAL json_each_text(versions.canonical #> '{payments,accounts}') AS named
GROUP BY named.key, named.value
HAVING count(*) = 1;

-- +goose Down
DROP TABLE payment_accounts;
