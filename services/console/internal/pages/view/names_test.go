package view

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/message/words"
	"github.com/slotmesh/slotmesh/services/console/internal/document"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/texts"
)

func TestProblemsNameObjectsInsteadOfIndexes(t *testing.T) {
	t.Parallel()
	all, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	p := &Page{Words: words.In(all, "en")}
	fields := document.Fields{"services": []any{document.Fields{"key": "cut", "name": "Haircut"}}, "languages": []any{"en", "xx"}}
	for path, want := range map[string]string{"services[0].category": "Haircut · category", "languages[1]": "languages · 2"} {
		if got := p.Named(fields, path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestChangesNameObjectsInsteadOfKeys(t *testing.T) {
	t.Parallel()
	fields := document.Fields{
		"staff":    []any{document.Fields{"key": "dr-lund", "name": "Dr Lund"}},
		"services": []any{document.Fields{"key": "cut", "name": "Haircut"}},
		"rentals":  []any{document.Fields{"key": "kayak", "name": "Kayak"}},
	}
	for _, c := range []struct {
		path        string
		value, want any
	}{
		{"services[cut].staff", []any{"dr-lund", "gone"}, []any{"Dr Lund", "gone"}},
		{"services", []string{"cut"}, []any{"Haircut"}},
		{"pricing_rules[x].applies_to", map[string]any{"services": []any{"cut"}}, document.Fields{"services": []any{"Haircut"}}},
		{"rentals[kayak].upsells", []any{map[string]any{"rental": "kayak"}}, []any{document.Fields{"rental": "Kayak"}}},
		{"name", "cut", "cut"},
	} {
		if diff := cmp.Diff(c.want, withNames(fields, c.path, c.value)); diff != "" {
			t.Errorf("%s: %s", c.path, diff)
		}
	}
}
