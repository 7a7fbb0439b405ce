package postgres

import "github.com/slotmesh/slotmesh/libs/values/phone"

// CustomerDigest is an SQL expression over the columns customer_email and id. The value of the expression is a hash of
// the e-mail address in lower case. If the row has no address, the value is a hash of the id. All services use the same
// expression, so that their digests of a customer are equal.
const CustomerDigest = `left(encode(sha256(convert_to(coalesce(lower(nullif(customer_email, '')), id::text), 'UTF8')), 'hex'), 24)`

// CustomerPhone is an SQL expression over the column customer_phone: the digits and the plus sign of the number. A table
// of sales has an index of it for customers without an e-mail address.
const CustomerPhone = `regexp_replace(translate(customer_phone, '` + phone.OtherDigits + `',
	repeat('0123456789', 6)), '[^0-9+]', '', 'g')`

// CustomerKey is an SQL expression over the columns customer_email and customer_phone: the key of the customer's
// address (package customer). It is null if the customer has no address, or only a number with fewer than three digits.
const CustomerKey = `coalesce(nullif(lower(customer_email), ''), 
	CASE WHEN ` + CustomerPhone + ` ~ '[0-9]\+*[0-9]\+*[0-9]' THEN ` + CustomerPhone + ` END)`

// CustomerMatch is an SQL condition over the same columns: the sale has one of the addresses in the named parameter
// `addresses`, which are keys. An index of lower(customer_email) and one of [CustomerPhone] find the sales.
const CustomerMatch = `(lower(customer_email) = ANY(ARRAY(SELECT lower(address) FROM unnest(@addresses::text[]) AS address))
	OR coalesce(customer_email, '') = '' AND ` + CustomerPhone + ` = ANY(@addresses::text[]))`
