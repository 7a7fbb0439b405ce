// Package components is the table of Slotmesh's services: which public paths each one answers, whom it calls, where it keeps what.
// Its file is the chart's files/components.yaml, which says what each column means; `make generate` copies it here.
package components

import (
	_ "embed"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

//go:generate cp ../../charts/slotmesh/files/components.yaml components.yaml
//go:embed components.yaml
var file []byte

// Component is one service's row.
type Component struct {
	// Calls are the services whose internal port it calls.
	Calls []string `yaml:"calls"`
	// Stores are "postgres" and "redis", where it keeps something there.
	Stores []string `yaml:"stores"`
	// Tables says that it has migrations.
	Tables bool `yaml:"tables"`
	// Business are the last parts of the paths /api/public/{slug}/… that it answers.
	Business []string `yaml:"business"`
	// Exact are the other public paths that it answers.
	Exact []string `yaml:"exact"`
	// Below are the beginnings of further public paths: it answers what is below them and made of [PlainPath] alone.
	Below []string `yaml:"below"`
}

// Fronted reports whether its public port is asked from outside.
func (c Component) Fronted() bool { return len(c.Business)+len(c.Exact)+len(c.Below) > 0 }

// PlainPath reports whether a path is made of what no two readers decode in two ways: letters, digits and . _ ~ / -, with no
// segment of dots alone.
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

// All are the rows by name of the service.
var All = func() map[string]Component {
	var all map[string]Component
	if err := yaml.Unmarshal(file, &all); err != nil {
		panic(err) // the file is part of the program
	}
	return all
}()

// Names are the services, sorted.
func Names() []string { return slices.Sorted(maps.Keys(All)) }
