package backup

import (
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/platform/postgres"
)

func TestCheckBuildRefusesOtherTables(t *testing.T) {
	t.Parallel()
	one, two, other := postgres.MigrationText{Version: 1, SHA256: "a"}, postgres.MigrationText{Version: 2, SHA256: "b"},
		postgres.MigrationText{Version: 1, SHA256: "c"}
	build := map[string][]postgres.MigrationText{"booking": {one}, "catalog": {one, two}}
	for name, c := range map[string]struct {
		schemas map[string][]postgres.MigrationText
		want    string // "" if the tables match
	}{
		"the same": {map[string][]postgres.MigrationText{"booking": {one}, "catalog": {one, two}}, ""},
		"a newer migration": {map[string][]postgres.MigrationText{"booking": {one, two}, "catalog": {one, two}},
			"newer tables: those of booking are of migration 2, and this build knows them to 1; restore it with the release that made it (1.4)"},
		"an older one": {map[string][]postgres.MigrationText{"booking": {one}, "catalog": {one}},
			"older tables: those of catalog are of migration 1, and this build makes 2; restore it with the release that made it (1.4), then start the newer"},
		"no tables of one": {map[string][]postgres.MigrationText{"booking": {one}},
			"older tables: those of catalog are of migration 0"},
		"a service more": {map[string][]postgres.MigrationText{"booking": {one}, "catalog": {one, two},
			"loyalty": {one}},
			"newer tables: this build has none of loyalty"},
		"another text of it": {map[string][]postgres.MigrationText{"booking": {other}, "catalog": {one, two}},
			"one of both was never released"},
	} {
		err := Contents{Build: "1.4", Schemas: c.schemas}.CheckBuild(build)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
