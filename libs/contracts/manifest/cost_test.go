package manifest

import (
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// nodeBytes is the memory, in bytes, that the YAML library keeps for each value of the largest sources, as measured.
const nodeBytes = 185

func countNodes(n *yaml.Node) int {
	total := 1
	for _, child := range n.Content {
		total += countNodes(child)
	}
	return total
}

// TestCostCoversTree shows that Cost is at least the memory for the tree of a source, and at most a small multiple of
// that memory.
func TestCostCoversTree(t *testing.T) {
	t.Parallel()
	r, n := strings.Repeat, 3000
	for name, c := range map[string]struct {
		source string
		atMost int // maximal multiple of the memory for the tree
	}{
		"nulls in a list":         {source: "x: [" + r("~,", n) + "]\n", atMost: 3},
		"names without values":    {source: "x: {" + r("a,", n) + "}\n", atMost: 2},
		"names and values":        {source: "x: {" + r("a: 1, ", n) + "}\n", atMost: 3},
		"quoted names and values": {source: "x: {" + r(`"a":1,`, n) + "}\n", atMost: 3},
		"pairs in a list":         {source: "x: [" + r("a: ,", n) + "]\n", atMost: 2},
		"quoted pairs in a list":  {source: "x: [" + r(`"a":1,`, n) + "]\n", atMost: 2},
		"objects in a list":       {source: "x: [" + r("{a},", n) + "]\n", atMost: 2},
		"lists in a list":         {source: "x: [" + r("[],", n) + "]\n", atMost: 5},
		"objects in objects":      {source: "x: [" + r(`{"a":{"a":{"a":{"a":1}}}},`, n) + "]\n", atMost: 3},
		"lines of a list":         {source: r("-\n", n), atMost: 3},
		"lists in lines":          {source: "x:\n" + r("- - - 1\n", n), atMost: 3},
		"lines of an object":      {source: r("a:\n", n), atMost: 3},
		"questions":               {source: r("? a\n", n), atMost: 3},
		"blocks": {source: minimal + "blocks:\n" +
			r("- {from: 2026-12-01T12:00, to: 2026-12-01T13:00}\n", n), atMost: 5},
		"JSON": {source: `{"x": [` + r(`{"key":"a","price":1},`, n) + `1]}`, atMost: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var root yaml.Node
			if err := yaml.Unmarshal([]byte(c.source), &root); err != nil {
				t.Fatal(err)
			}
			takes := countNodes(&root) * nodeBytes
			if cost := Cost([]byte(c.source)); cost < int64(takes) || cost > int64(c.atMost*takes) {
				t.Errorf("costs %d bytes, and its %d values take %d", cost, takes/nodeBytes, takes)
			}
		})
	}
}

func TestCostCoversAliases(t *testing.T) {
	t.Parallel()
	for source, repeats := range map[string]bool{
		minimal: false, minimal + "hours: {mon: &day ['09:00-12:00'], tue: *day}\n": true,
		minimal + "services: [&a {key: a}, {<<: *a}]\n":               true,
		minimal + "description_html: 'Cut & colour, 5 * 3 minutes'\n": false,
	} {
		if got := Cost([]byte(source)) > aliasedBytes; got != repeats {
			t.Errorf("%s: counted as aliases: %v", source, got)
		}
	}
}

func TestCostOfUnreadSourceIsItsText(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{
		"too many separators": "x: [" + strings.Repeat("a,", maxValues) + "]\n",
		"too long":            "x: [" + strings.Repeat("a,", MaxBytes/2) + "]\n",
	} {
		if cost := Cost([]byte(source)); cost != int64(len(source))*textBytes {
			t.Errorf("%s: costs %d bytes", name, cost)
		}
	}
	json := `{"x": [` + strings.Repeat("1,", 2*maxValues) + "1]}"
	if cost := Cost([]byte(json)) - int64(len(json))*textBytes; cost != maxValues*valueBytes {
		t.Errorf("JSON, which is read up to the bound of values, costs %d bytes", cost)
	}
}

func TestWarningsStopOnRequest(t *testing.T) {
	t.Parallel()
	source := []byte(minimal + "hours: {mon: ['09:00-12:00', '11:00-13:00']}\n")
	for after := range 3 {
		asked := 0
		warnings, err := WarningsUntil(source, warnedAt, func() bool { asked++; return asked > after })
		if len(warnings) > 0 || fmt.Sprint(err) != ErrStopped.Error() {
			t.Errorf("stopped when asked %d times: %v, %v", asked, warnings, err)
		}
	}
	if warnings, err := WarningsUntil(source, warnedAt, func() bool { return false }); err != nil ||
		len(warnings) != 1 {
		t.Errorf("not stopped: %v, %v", warnings, err)
	}
}
