// Package components holds the table of Slotmesh's services. For each service it lists the public paths that
// the service answers, the other services that it calls, and the databases that it uses. `make generate`
// copies the table from files/components.yaml of the Helm chart, whose comments explain the columns.
package components

import (
	_ "embed"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:generate cp ../../../charts/slotmesh/files/components.yaml components.yaml
//go:embed components.yaml
var file []byte

// Component describes one service.
type Component struct {
	// Calls are the services whose internal ports the service calls.
	Calls []string `yaml:"calls"`
	// Stores are the databases that the service uses: "postgres", "redis".
	Stores []string `yaml:"stores"`
	// Tables reports that the service has migrations of tables in PostgreSQL.
	Tables bool `yaml:"tables"`
	// Business are the last segments of the paths /api/public/{slug}/… that the service answers.
	Business []string `yaml:"business"`
	// Exact are the other public paths that the service answers.
	Exact []string `yaml:"exact"`
	// Below are prefixes of public paths. The service answers the paths with these prefixes that satisfy [PlainPath].
	Below []string `yaml:"below"`
}

// IsPublic reports whether the public port of the service is reachable from outside the cluster.
func (c Component) IsPublic() bool { return len(c.Business)+len(c.Exact)+len(c.Below) > 0 }

// PlainPath reports whether a path is so plain that all servers interpret it in the same
// way: it consists of letters, digits and . _ ~ / -, and no segment is "." or "..".
func PlainPath(path string) bool {
	for _, segment := range strings.Split(path, "/") {
		if segment == "." || segment == ".." {
			return false
		}
	}
	return !strings.ContainsFunc(path, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._~/-", r)
	})
}

// All holds the services by name.
var All = func() map[string]Component {
	var all map[string]Component
	if err := yaml.Unmarshal(file, &all); err != nil {
		panic(err) // cannot happen: the file is embedded in the program
	}
	return all
}()

// Names returns the names of the services, sorted.
func Names() []string { return slices.Sorted(maps.Keys(All)) }
