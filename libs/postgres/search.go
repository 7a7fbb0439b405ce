package postgres

import "fmt"

// CustomerFound returns an SQL condition that is true if the parameter query matches a customer. It
// matches if all its words occur in the name and the address together, in any order, normalized by
// the schema's function search_text. It also matches if it occurs in the phone number. The arguments
// are SQL expressions; email and phone may be null. An empty query matches every customer.
func CustomerFound(name, email, phone string) string {
	return fmt.Sprintf(`(@query = ''
		OR search_text(concat_ws(' ', %s, %s)) LIKE ALL ((SELECT array_agg('%%' || regexp_replace(word, '([%%_\\])', '\\\1', 'g') || '%%')
		       FROM regexp_split_to_table(search_text(@query), '\s+') AS word)::text[])
		OR strpos(translate(%s, ' -()./', ''), nullif(translate(@query, ' -()./', ''), '')) > 0)`, name, email, phone)
}
