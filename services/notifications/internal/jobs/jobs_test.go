package jobs_test

import (
	"testing"

	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/services/notifications/migrations"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

// The copies of the tables of River in our migrations match the version of River in go.mod.
func TestMigrationsMatchRiverVersion(t *testing.T) {
	t.Parallel()
	pool := testkit.Postgres(t, "notifications", migrations.FS)
	migrator, err := rivermigrate.New(riverpgxv5.New(pool), nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := migrator.Validate(t.Context(), nil)
	if err != nil || !got.OK {
		t.Errorf("%+v: %v", got, err)
	}
}
