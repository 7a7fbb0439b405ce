package postgres

import "strings"

// DueRows selects the rows of a table that a job must process
// now. The table must have an index that begins with business_id.
type DueRows struct {
	Table     string
	Index     string // SQL condition of the partial index; "" if the index is not partial
	Condition string // SQL condition of due rows; the parameter $2 is the current instant
}

// DueBusinesses returns an SQL query for the ids of businesses that have due rows in any of the tables. The query
// returns at most $3 ids, in ascending order, each greater than the id $1. Rows are due at the instant $2. The query
// uses the index to find the next business. The cost of the query therefore depends on the number of businesses, not on
// the number of rows.
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

// nextBusiness returns an SQL query for the next business that has a row in any of the
// tables. The SQL expression in the argument `after` is the id of the previous business.
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
