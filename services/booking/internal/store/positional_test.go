package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/testkit"
)

func TestStatementNumbersParametersLikePgx(t *testing.T) {
	t.Parallel()
	args := pgx.NamedArgs{}
	for i, name := range bookStatement.names {
		args[name] = i
	}
	text, values, err := args.RewriteQuery(testkit.AsSystem(t), nil, bookSQL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(text, bookStatement.text) + cmp.Diff(values, bookStatement.values(args)); diff != "" {
		t.Error(diff)
	}
	if len(values) < 30 {
		t.Errorf("only %d parameters were found", len(values))
	}
}
