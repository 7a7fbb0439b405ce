package store

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/jackc/pgx/v5"
)

// statement is SQL with positional parameters, and the names of the parameters in the same order. It exists
// because pgx replaces named parameters at every execution, which takes longer than encoding their values.
type statement struct {
	text  string
	names []string
}

var parameter = regexp.MustCompile(`@[a-z_]+`)

// positional replaces the named parameters of a statement by positional
// ones. The SQL must not contain @ except before a parameter name.
func positional(sql string) statement {
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

// values returns the arguments in the order of the statement's parameters; a parameter without an argument is null.
func (s statement) values(args pgx.NamedArgs) []any {
	values := make([]any, len(s.names))
	for i, name := range s.names {
		values[i] = args[name]
	}
	return values
}
