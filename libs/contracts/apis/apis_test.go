package apis

import (
	"slices"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/components"
)

// TestCallsMatchComponents shows that the callers in the table of endpoints are those in the table of
// components. The chart generates the policies of the service mesh and of the network from the latter table.
func TestCallsMatchComponents(t *testing.T) {
	t.Parallel()
	for _, name := range components.Names() {
		want := slices.Sorted(slices.Values(components.All[name].Calls))
		if got := Calls(name); !slices.Equal(got, want) {
			t.Errorf("%s may call %v by its endpoints, %v by the table of components", name, got, want)
		}
	}
	for _, e := range All {
		for caller := range e.Callers {
			if _, known := components.All[caller]; !known {
				t.Errorf("%s %s %s: the caller %q does not exist", e.Service, e.Method, e.Path, caller)
			}
		}
	}
}

func TestEndpointsHaveOneRowAndCallers(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, e := range All {
		key := e.Service + " " + e.Method + " " + e.Path
		if seen[key] || len(e.Callers) == 0 {
			t.Errorf("%s: twice, or without callers", key)
		}
		seen[key] = true
	}
}

// TestPagesAndAgentsActAsThemselves shows that pages, mcp and notifications may act only as the listed kinds of
// actors. This bounds the use of a stolen credential of these services.
func TestPagesAndAgentsActAsThemselves(t *testing.T) {
	t.Parallel()
	allowed := map[string][]actor.Kind{"pages": {actor.Page, actor.Customer}, "mcp": {actor.APIKey},
		"notifications": {}}
	for _, e := range All {
		for caller, kinds := range allowed {
			for _, kind := range e.Callers[caller] {
				if !slices.Contains(kinds, kind) {
					t.Errorf("%s may call %s %s %s as %s", caller, e.Service, e.Method, e.Path, kind)
				}
			}
		}
	}
}

func TestAllowsChecksActor(t *testing.T) {
	t.Parallel()
	for _, e := range All {
		for caller, kinds := range e.Callers {
			if e.Allows(caller, "") != (len(kinds) == 0) {
				t.Errorf("%s %s %s: %s without an actor", e.Service, e.Method, e.Path, caller)
			}
			if len(kinds) == 0 && e.Allows(caller, actor.Owner) {
				t.Errorf("%s %s %s: %s reads as the owner", e.Service, e.Method, e.Path, caller)
			}
		}
		if e.Allows("front", "") || e.Allows("", actor.System) {
			t.Errorf("%s %s %s: a caller without endpoints may call it", e.Service, e.Method, e.Path)
		}
	}
}
