package texts_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

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
