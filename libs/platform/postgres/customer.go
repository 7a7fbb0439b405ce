package postgres

// CustomerDigest is an SQL expression over the columns customer_email and id. Its value
// is a hash of the address in lower case, or a hash of the id if the row has no address.
// All services use the same expression, so that their digests of a customer are equal.
const CustomerDigest = `left(encode(sha256(convert_to(coalesce(lower(nullif(customer_email, '')), id::text), 'UTF8')), 'hex'), 24)`
