package store

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

func TestParametersGetTheirPositionsAsPgxGivesThem(t *testing.T) {
	t.Parallel()
	args := pgx.NamedArgs{}
	for i, name := range bookStatement.names {
		args[name] = i
	}
	text, values, err := args.RewriteQuery(t.Context(), nil, bookSQL, nil)
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
