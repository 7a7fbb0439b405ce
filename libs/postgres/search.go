package postgres

import "fmt"

// CustomerFound is an SQL condition: a customer is found by the parameter query. All words of the query occur in the name and the address
// together, in any order and as search_text of the schema compares them, or the query occurs in the phone number. The arguments are SQL
// expressions; the address and the phone may be null. An empty query finds every customer.
func CustomerFound(name, email, phone string) string {
	return fmt.Sprintf(`(@query = ''
		OR search_text(concat_ws(' ', %s, %s)) LIKE ALL ((SELECT array_agg('%%' || regexp_replace(word, '([%%_\\])', '\\\1', 'g') || '%%')
		       FROM regexp_split_to_table(search_text(@query), '\s+') AS word)::text[])
		OR strpos(translate(%s, ' -()./', ''), nullif(translate(@query, ' -()./', ''), '')) > 0)`, name, email, phone)
}
