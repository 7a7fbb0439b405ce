package postgres

// CustomerDigest is an SQL expression over the columns customer_email and id: a digest of the customer's address in lower case,
// or of the row's id where it has no address. Every service that keeps customers uses it, so that digests are comparable.
const CustomerDigest = `left(encode(sha256(convert_to(coalesce(lower(nullif(customer_email, '')), id::text), 'UTF8')), 'hex'), 24)`
