package texts_test

import (
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
	"github.com/slotmesh/slotmesh/libs/values/message/messagetest"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/texts"
)

func TestLanguagesHaveSameTextsAndPlaceholders(t *testing.T) {
	t.Parallel()
	messagetest.SameSentences(t)
}

// TestTextsNameNoManifestField shows that no text of the pages contains a field name of the manifest, because
// owners do not know these names.
func TestTextsNameNoManifestField(t *testing.T) {
	t.Parallel()
	field := regexp.MustCompile(`[a-z]_[a-z]`)
	files, err := filepath.Glob("*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(content)) {
			_, sentence, _ := strings.Cut(line, `": `)
			if found := field.FindString(sentence); found != "" {
				t.Errorf("%s: %q in %s", file, found, line)
			}
		}
	}
}

func TestLanguageFallsBackToNearestThenEnglish(t *testing.T) {
	t.Parallel()
	ours, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	for requested, want := range map[string]string{"cy": "en", "de-AT": "de", "ar-EG": "ar", "pt-BR": "pt",
		"zh-CN": "zh"} {
		if got := words.In(ours, requested).Code; got != want {
			t.Errorf("a person who requests %s reads %s, want %s", requested, got, want)
		}
	}
}

// TestBooksNameShownTexts shows that the books for businesses and operators, which slant the words of the pages, name
// only words that the pages show.
func TestBooksNameShownTexts(t *testing.T) {
	t.Parallel()
	inputs.Checkout("docs", "services")
	shown := map[string]bool{}
	for _, file := range []string{"en.json", "../../identity/signin/texts/en.json",
		"../../../../pages/internal/texts/en.json"} {
		var sentences map[string]any
		content, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(content, &sentences)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, sentence := range sentences {
			if text, isText := sentence.(string); isText {
				shown[text] = true
			}
		}
	}
	slanted := regexp.MustCompile(`(?:^|[\s(|])\*([^*\s][^*]*)\*(?:[^*]|$)`)
	books := "../../../../../docs/"
	for _, folder := range []string{"businesses", "operators"} {
		files, err := filepath.Glob(books + folder + "/*.md")
		if err != nil || len(files) == 0 {
			t.Fatal(folder, err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, match := range slanted.FindAllStringSubmatch(string(content), -1) {
				if words := strings.Join(strings.Fields(match[1]), " "); !shown[words] {
					t.Errorf("%s: no page shows %q", file, words)
				}
			}
		}
	}
}

// TestPagesUseAllTexts shows that the code names each text: by its id, by the beginning of its id up to an underscore,
// or by parts of the id, such as _hint, which together are the id.
func TestPagesUseAllTexts(t *testing.T) {
	t.Parallel()
	literals := map[string]bool{}
	quoted := regexp.MustCompile(`"([\w-]+)"`)
	err := filepath.WalkDir("../../..", func(path string, entry fs.DirEntry, err error) error {
		isCode := strings.HasSuffix(path, ".go") || strings.HasSuffix(path, ".templ")
		if err != nil || !isCode || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "_templ.go") {
			return err
		}
		content, err := os.ReadFile(path)
		for _, match := range quoted.FindAllStringSubmatch(string(content), -1) {
			literals[match[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile("en.json")
	var sentences map[string]any
	if err == nil {
		err = json.Unmarshal(content, &sentences)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range slices.Sorted(maps.Keys(sentences)) {
		if !isNamed(id, literals) {
			t.Errorf("no page shows %q", id)
		}
	}
}

func isNamed(id string, literals map[string]bool) bool {
	if literals[id] {
		return true
	}
	for i := 1; i < len(id); i++ {
		if id[i] == '_' && (literals[id[:i+1]] || literals[id[:i]] && isNamed(id[i:], literals)) {
			return true
		}
	}
	return false
}
