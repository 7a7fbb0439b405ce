package view

import (
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/services/pages/internal/texts"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// TestPageShowsTranslatedBusinessName shows that the page has the name of the business in the nearest
// language. Without a translation, the page has the default name.
func TestPageShowsTranslatedBusinessName(t *testing.T) {
	t.Parallel()
	sentences, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	snapshot := &catalog.Snapshot{
		Slug: "harbor", Name: "Harbor", DefaultLanguage: "en", Languages: []string{"en", "pt", "de"},
		NameTranslations: map[string]string{"pt": "Porto"},
	}
	for requested, want := range map[string]string{"pt-BR": "Porto", "de": "Harbor", "ja": "Harbor"} {
		p := &Page{Words: words.In(sentences, requested), Business: &usecase.Business{Snapshot: snapshot}}
		if got := p.frame("Services").Title; got != "Services · "+want {
			t.Errorf("in %s the page is called %q", requested, got)
		}
	}
}
