// Package messagetest checks that the sentence files of all languages contain the same sentences.
package messagetest

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/values/message"
)

var placeholder = regexp.MustCompile(`\{\{\.(\w+)\}\}`)

// SameSentences checks the sentence files in the working directory. The test fails in these cases:
//
//   - There is not exactly one file <code>.json for each language of libs/values/message.
//   - A file lacks a sentence of en.json, or contains an additional, repeated or empty sentence.
//   - A sentence does not have the same placeholders as in en.json.
//   - A sentence has several plural forms in at least one language, but in one of the languages it has no form for
//     some number.
func SameSentences(t *testing.T) {
	t.Helper()
	files, err := filepath.Glob("*.json")
	if err != nil {
		t.Fatal(err)
	}
	all, read, counted := map[string]map[string]sentence{}, fstest.MapFS{}, map[string]bool{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		read[file] = &fstest.MapFile{Data: content}
		all[file] = sentences(t, file, content)
		for id, s := range all[file] {
			counted[id] = counted[id] || s.forms > 1
		}
	}
	catalog, err := message.Read(read, ".")
	if err != nil {
		t.Fatal(err)
	}
	everything, err := message.Load()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(everything.Languages(), catalog.Languages()); diff != "" {
		t.Fatalf("languages (-want +got):\n%s", diff)
	}
	for _, file := range files {
		checkSame(t, file, all["en.json"], all[file])
		for id, s := range all[file] {
			if counted[id] {
				hasPluralForms(t, catalog, strings.TrimSuffix(file, ".json"), id, s)
			}
		}
	}
}

func checkSame(t *testing.T, file string, want, got map[string]sentence) {
	t.Helper()
	for _, id := range slices.Sorted(maps.Keys(want)) {
		if s, ok := got[id]; !ok || s.placeholders != want[id].placeholders {
			t.Errorf("%s: %s has the placeholders %q (there: %v), want %q", file, id, s.placeholders, ok,
				want[id].placeholders)
		}
	}
	for id := range got {
		if _, ok := want[id]; !ok {
			t.Errorf("%s: %s is in no other language", file, id)
		}
	}
}

func hasPluralForms(t *testing.T, catalog *message.Catalog, language, id string, s sentence) {
	t.Helper()
	fields := map[string]string{}
	for _, name := range placeholder.FindAllStringSubmatch(s.placeholders, -1) {
		fields[name[1]] = "x"
	}
	for n := range 130 { // for larger numbers, the plural forms repeat in every language
		if _, err := catalog.FillCount(language, message.ID(id), n, fields); err != nil {
			t.Errorf("%s: %s of %d: %v", language, id, n, err)
			return
		}
	}
}

// sentence holds the properties of a sentence in one language. In all languages, the sentence must have the same
// placeholders.
type sentence struct {
	placeholders string // sorted, separated by spaces
	forms        int    // number of plural forms
}

// sentences parses the sentence file of one language. The keys of the result are the ids of the sentences.
func sentences(t *testing.T, file string, content []byte) map[string]sentence {
	t.Helper()
	var raw map[string]any
	if err := json.Unmarshal(content, &raw); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	names := regexp.MustCompile(`(?m)^  "([^"]+)":`).FindAllSubmatch(content, -1)
	if len(names) != len(raw) {
		t.Errorf("%s: %d sentences have %d names: one stands twice, and the later takes its place", file, len(names),
			len(raw))
	}
	found := map[string]sentence{}
	for id, value := range raw {
		forms, several := value.(map[string]any)
		if !several {
			forms = map[string]any{"other": value}
		}
		text, _ := forms["other"].(string)
		if text == "" {
			t.Errorf("%s: %s is empty", file, id)
		}
		all := placeholder.FindAllString(text, -1)
		slices.Sort(all)
		found[id] = sentence{strings.Join(all, " "), len(forms)}
	}
	return found
}
