package testkit

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var placeholder = regexp.MustCompile(`\{\{\.\w+\}\}`)

// SameSentences fails where a file <code>.json of the working folder lacks a sentence of en.json, has another one, an empty one, or other
// placeholders.
func SameSentences(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob("*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sentences: %v", err)
	}
	want := sentences(t, "en.json")
	for _, file := range files {
		got := sentences(t, file)
		for _, id := range slices.Sorted(maps.Keys(want)) {
			if placeholders, ok := got[id]; !ok || placeholders != want[id] {
				t.Errorf("%s: %s has the placeholders %q (there: %v), want %q", file, id, placeholders, ok, want[id])
			}
			delete(got, id)
		}
		for id := range got {
			t.Errorf("%s: %s is in no other language", file, id)
		}
	}
}

// sentences reads one language: the placeholders of each sentence, by its name.
func sentences(t *testing.T, file string) map[string]string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var raw map[string]any
	if err := json.Unmarshal(content, &raw); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	found := map[string]string{}
	for id, value := range raw {
		forms, counted := value.(map[string]any)
		if !counted {
			forms = map[string]any{"other": value}
		}
		text, _ := forms["other"].(string)
		if text == "" {
			t.Errorf("%s: %s is empty", file, id)
		}
		all := placeholder.FindAllString(text, -1)
		slices.Sort(all)
		found[id] = strings.Join(all, " ")
	}
	return found
}
