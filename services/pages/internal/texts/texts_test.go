package texts_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/message"
	"github.com/slotmesh/slotmesh/services/pages/internal/texts"
)

var placeholder = regexp.MustCompile(`\{\{\.\w+\}\}`)

// sentences reads one language: the placeholders of each sentence, by its name.
func sentences(t *testing.T, code string) map[string][]string {
	t.Helper()
	content, err := os.ReadFile(code + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var raw map[string]any
	if err := json.Unmarshal(content, &raw); err != nil {
		t.Fatalf("%s: %v", code, err)
	}
	found := map[string][]string{}
	for id, value := range raw {
		forms, counted := value.(map[string]any)
		if !counted {
			forms = map[string]any{"other": value}
		}
		if text, _ := forms["other"].(string); text == "" {
			t.Errorf("%s: %s is empty", code, id)
		} else {
			found[id] = placeholder.FindAllString(text, -1)
			slices.Sort(found[id])
		}
	}
	return found
}

func TestEveryLanguageHasTheSameSentencesWithTheSamePlaceholders(t *testing.T) {
	t.Parallel()
	ours, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	all, err := message.Load()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(all.Languages(), ours.Languages()); diff != "" {
		t.Fatalf("languages (-want +got):\n%s", diff)
	}
	want := sentences(t, "en")
	for _, code := range ours.Languages() {
		if diff := cmp.Diff(want, sentences(t, code)); diff != "" {
			t.Errorf("%s (-en +%s):\n%s", code, code, diff)
		}
	}
}
