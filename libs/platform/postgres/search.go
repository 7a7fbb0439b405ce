package postgres

import "fmt"

// CustomerCondition returns an SQL condition that is true if the statement's parameter query
// matches a customer. Each word of query must occur in the name or the address, in any
// order, or query must occur in the phone number. An empty query matches every customer.
//
// The arguments are SQL expressions; email and phone may be null. The schema's function search_text normalizes texts.
func CustomerCondition(name, email, phone string) string {
	return fmt.Sprintf(`(@query = ''
		OR search_text(concat_ws(' ', %s, %s)) LIKE ALL ((SELECT array_agg('%%' || regexp_replace(word, '([%%_\\])', '\\\1', 'g') || '%%')
		       FROM regexp_split_to_table(search_text(@query), '\s+') AS word)::text[])
		OR strpos(translate(%s, ' -()./', ''), nullif(translate(@query, ' -()./', ''), '')) > 0)`, name, email, phone)
}
