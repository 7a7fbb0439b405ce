// Package components is the table of Slotmesh's services. It has the public paths that
// each service answers, the services that it calls, and its stores. `make generate`
// copies the table from files/components.yaml of the chart, which explains the columns.
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

// Component is the row of one service.
type Component struct {
	// Calls are the services whose internal ports it calls.
	Calls []string `yaml:"calls"`
	// Stores are the stores that it uses: "postgres", "redis".
	Stores []string `yaml:"stores"`
	// Tables reports that it has migrations.
	Tables bool `yaml:"tables"`
	// Business are the last segments of the paths /api/public/{slug}/… that it answers.
	Business []string `yaml:"business"`
	// Exact are the other public paths that it answers.
	Exact []string `yaml:"exact"`
	// Below are prefixes of further public paths. It answers the paths below them that satisfy [PlainPath].
	Below []string `yaml:"below"`
}

// Fronted reports whether its public port is reachable from outside.
func (c Component) Fronted() bool { return len(c.Business)+len(c.Exact)+len(c.Below) > 0 }

// PlainPath reports whether all servers interpret a path in the same way. Such a
// path consists of letters, digits and . _ ~ / -, without a segment "." or "..".
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

// All holds the rows by name of the service.
var All = func() map[string]Component {
	var all map[string]Component
	if err := yaml.Unmarshal(file, &all); err != nil {
		panic(err) // the file is part of the program
	}
	return all
}()

// Names returns the names of the services, sorted.
func Names() []string { return slices.Sorted(maps.Keys(All)) }
