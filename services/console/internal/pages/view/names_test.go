package view

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/form"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/texts"
)

func TestProblemsNameObjectsInsteadOfIndexes(t *testing.T) {
	t.Parallel()
	all, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	p := &Page{Words: words.In(all, "en")}
	fields := document.Fields{"services": []any{document.Fields{"key": "cut", "name": "Haircut"}},
		"languages": []any{"en", "xx"}}
	for path, want := range map[string]string{"services[0].category": "Haircut · category",
		"languages[1]": "languages · 2"} {
		if got := p.NameField(fields, path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestChangesNameObjectsInsteadOfKeys(t *testing.T) {
	all, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	p := &Page{Words: words.In(all, "en")}
	NoteOptions(
		form.Field{
			Name:    "payments.modes.services",
			Options: []form.Option{{Value: "online", Sentence: "offer_pays_online"}},
		},
	)
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
		{"pricing_rules[x].applies_to", map[string]any{"services": []any{"cut"}},
			document.Fields{"services": []any{"Haircut"}}},
		{"rentals[kayak].upsells", []any{map[string]any{"rental": "kayak"}}, []any{document.Fields{"rental": "Kayak"}}},
		{"name", "cut", "cut"},
		{"payments.modes.services", "online", "Online"},
		{"services[cut].classes", []any{map[string]any{"weekday": "tue"}},
			[]any{document.Fields{"weekday": "Tuesday"}}},
		{"staff[dr-lund].name", "tue", "tue"},
	} {
		if diff := cmp.Diff(c.want, p.replaceKeys(fields, c.path, c.value)); diff != "" {
			t.Errorf("%s: %s", c.path, diff)
		}
	}
}

func TestChangesUseDateFormatOfRegion(t *testing.T) {
	t.Parallel()
	all, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	for tag, want := range map[string][]string{
		"en-GB": {"24 Dec 2030", "18:30", "24 Dec 2030 · 18:30", "09:00 – 17:30", "09:00 – 00:00"},
		"en-US": {"Dec 24, 2030", "6:30 pm", "Dec 24, 2030 · 6:30 pm", "9:00 am – 5:30 pm", "9:00 am – 12:00 am"},
	} {
		p := &Page{Words: words.In(all, tag)}
		for i, value := range []string{"2030-12-24", "18:30", "2030-12-24T18:30", "09:00-17:30", "09:00-24:00"} {
			if got := strings.ReplaceAll(p.FormatValue(value), "\u202f", " "); got != want[i] {
				t.Errorf("%s in %s: %q, want %q", value, tag, got, want[i])
			}
		}
		if got := p.FormatValue("12-24"); got != "12-24" {
			t.Errorf("a text is written as %q", got)
		}
	}
}
