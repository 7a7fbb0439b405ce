package postgres

import "fmt"

// CustomerCondition returns an SQL condition that is true if a customer matches the search text. The search text is the
// named parameter `query` of the statement. A customer matches if each word of the search text occurs in the name or
// the e-mail address, in any order. A customer also matches if the search text occurs in the phone number. An empty
// search text matches every customer.
//
// The arguments are SQL expressions. The values of email and phone may be null. The
// SQL function search_text of the schema normalizes texts before they are compared.
func CustomerCondition(name, email, phone string) string {
	return fmt.Sprintf(`(@query = ''
		OR search_text(concat_ws(' ', %s, %s)) LIKE ALL ((SELECT array_agg('%%' || regexp_replace(word, '([%%_\\])', '\\\1', 'g') || '%%')
		       FROM regexp_split_to_table(search_text(@query), '\s+') AS word)::text[])
		OR strpos(translate(%s, ' -()./', ''), nullif(translate(@query, ' -()./', ''), '')) > 0)`, name, email, phone)
}
