package usecase

import (
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

// TestBusinessLanguageIsNearestMatch shows that a page is in the language of the business that is nearest to
// the requested one.
func TestBusinessLanguageIsNearestMatch(t *testing.T) {
	t.Parallel()
	b := &Business{Snapshot: &catalog.Snapshot{Languages: []string{"en", "pt-PT", "de"}, DefaultLanguage: "en"}}
	for requested, want := range map[string]string{"pt": "pt-PT", "pt-BR": "pt-PT", "de-AT": "de", "en-GB": "en",
		"fr": "en", "": "en"} {
		if got := b.Language(requested); got != want {
			t.Errorf("a reader who requests %q gets %q, want %q", requested, got, want)
		}
	}
}
