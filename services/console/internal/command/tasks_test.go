package command_test

import (
	"maps"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

// TestTaskExamplesCanBePublished publishes each YAML example of docs/businesses/file-tasks.md, merged into the
// first example of that page.
func TestTaskExamplesCanBePublished(t *testing.T) {
	t.Parallel()
	inputs.Checkout("docs")
	page, err := os.ReadFile("../../../../docs/businesses/file-tasks.md")
	if err != nil {
		t.Fatal(err)
	}
	var pieces []map[string]yaml.Node
	for _, rest := range strings.Split(string(page), "```yaml\n")[1:] {
		text, _, closed := strings.Cut(rest, "```")
		var piece map[string]yaml.Node
		if err := yaml.Unmarshal([]byte(text), &piece); err != nil || !closed {
			t.Fatalf("%v\n%s", err, text)
		}
		pieces = append(pieces, piece)
	}
	if len(pieces) < 6 {
		t.Fatalf("the page has %d pieces", len(pieces))
	}
	for _, piece := range pieces {
		offer := maps.Clone(pieces[0])
		maps.Copy(offer, piece)
		text, err := yaml.Marshal(offer)
		if err != nil {
			t.Fatal(err)
		}
		s := newShell(t, consoletest.Start(t))
		s.in = string(text)
		if got := s.mustRun("apply", "-f", "-"); !strings.Contains(got, "harbor: version 1 is published") {
			t.Errorf("%s\n%s", got, text)
		}
	}
}
