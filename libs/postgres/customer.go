package postgres

// CustomerDigest is an SQL expression over the columns customer_email and id. It is a digest of the address in
// lower case, or of the id for a row without an address. All services use it, so that their digests are comparable.
const CustomerDigest = `left(encode(sha256(convert_to(coalesce(lower(nullif(customer_email, '')), id::text), 'UTF8')), 'hex'), 24)`
