package postgres

// CustomerDigest is an SQL expression over the columns customer_email and id. The value of the expression is a hash of
// the e-mail address in lower case. If the row has no address, the value is a hash of the id. All services use the same
// expression, so that their digests of a customer are equal.
const CustomerDigest = `left(encode(sha256(convert_to(coalesce(lower(nullif(customer_email, '')), id::text), 'UTF8')), 'hex'), 24)`
