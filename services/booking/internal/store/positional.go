package store

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/jackc/pgx/v5"
)

// statement is an SQL statement with positional parameters. In the SQL text `text`,
// the parameter $1 has the name `names[0]`. The type exists because pgx replaces named
// parameters at every execution, which takes longer than the encoding of the values.
type statement struct {
	text  string
	names []string
}

var parameter = regexp.MustCompile(`@[a-z_]+`)

// newStatement converts the named parameters of a statement into positional
// parameters. The SQL must contain the character @ only before parameter names.
func newStatement(sql string) statement {
	var s statement
	s.text = parameter.ReplaceAllStringFunc(sql, func(name string) string {
		at := slices.Index(s.names, name[1:])
		if at < 0 {
			at = len(s.names)
			s.names = append(s.names, name[1:])
		}
		return fmt.Sprintf("$%d", at+1)
	})
	return s
}

// values returns the arguments in the order of the statement's
// parameters. The value of a parameter without an argument is null.
func (s statement) values(args pgx.NamedArgs) []any {
	values := make([]any, len(s.names))
	for i, name := range s.names {
		values[i] = args[name]
	}
	return values
}
