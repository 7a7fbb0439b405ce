package usecase

import (
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

// TestABusinessSpeaksTheNearestOfItsLanguages shows that a page is in the language of the business that is nearest to
// the requested one.
func TestABusinessSpeaksTheNearestOfItsLanguages(t *testing.T) {
	t.Parallel()
	b := &Business{Offer: &catalog.Snapshot{Languages: []string{"en", "pt-PT", "de"}, DefaultLanguage: "en"}}
	for asked, want := range map[string]string{"pt": "pt-PT", "pt-BR": "pt-PT", "de-AT": "de", "en-GB": "en",
		"fr": "en", "": "en"} {
		if got := b.Language(asked); got != want {
			t.Errorf("who asks for %q is spoken to in %q, want %q", asked, got, want)
		}
	}
}
