package postgres

import "strings"

// DueRows selects the rows of a table that a job must process. The table has an index that begins with business_id.
type DueRows struct {
	Table     string
	Index     string // condition of a partial index; "": not partial
	Condition string // condition of due rows; $2 is an instant
}

// DueBusinesses returns a query for the ids of businesses that have rows due at the time $2. It
// returns at most $3 ids above the id $1, in their order. The cost depends on the number of
// businesses and not on their rows, because the query uses the index to find the next business.
func DueBusinesses(all ...DueRows) string {
	var due []string
	for _, d := range all {
		due = append(due, `EXISTS (SELECT FROM `+d.Table+` WHERE business_id = found.id AND `+d.Condition+`)`)
	}
	return `
		WITH RECURSIVE found AS (
		    SELECT (` + nextBusiness(all, "$1") + `) AS id
		    UNION ALL
		    SELECT (` + nextBusiness(all, "found.id") + `) FROM found WHERE found.id IS NOT NULL
		)
		SELECT id FROM found
		WHERE id IS NOT NULL AND (` + strings.Join(due, " OR ") + `)
		LIMIT $3`
}

// nextBusiness returns a query for the first business after an id that has a row in any of the tables.
func nextBusiness(all []DueRows, after string) string {
	var first []string
	for _, d := range all {
		index := ""
		if d.Index != "" {
			index = d.Index + " AND "
		}
		first = append(first, `(SELECT business_id AS id FROM `+d.Table+` WHERE `+index+`business_id > `+after+
			` ORDER BY business_id LIMIT 1)`)
	}
	return `SELECT id FROM (` + strings.Join(first, " UNION ALL ") + `) AS first ORDER BY id LIMIT 1`
}
