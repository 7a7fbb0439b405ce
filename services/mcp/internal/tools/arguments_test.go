package tools

import (
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// TestParseAcceptsWholeNumbersWithPoint shows that each integer argument of a tool may be written as 1.0. JSON has
// only one type of number.
func TestParseAcceptsWholeNumbersWithPoint(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{
		"1.0": "1", "2": "2", "2e1": "20", " 3.00 ": "3", "-1.0": "-1", "1.5": "1.5", `"1.0"`: `"1.0"`,
		"1e300": "1e300", "true": "true", "[1.0]": "[1.0]",
	} {
		if got := string(normalizeWhole(json.RawMessage(sent))); got != want {
			t.Errorf("%s is read as %s, want %s", sent, got, want)
		}
	}
	count := 0
	box := &Toolbox{}
	for _, each := range box.allTools() {
		for name, property := range each.InputSchema.(*jsonschema.Schema).Properties {
			if property.Type != "integer" {
				continue
			}
			count++
			args, err := each.parse(json.RawMessage(`{"` + name + `": 1.0}`))
			if err != nil || string(args[name]) != "1" {
				t.Errorf("%s of %s: %s, %v", name, each.Name, args[name], err)
			}
		}
	}
	if count == 0 {
		t.Error("no tool has a whole number")
	}
}
