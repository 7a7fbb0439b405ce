package texts_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/message/words"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/texts"
)

func TestEveryLanguageHasTheSameSentencesWithTheSamePlaceholders(t *testing.T) {
	t.Parallel()
	testkit.SameSentences(t)
}

// Who reads another language has the business's own where it is here, else English.
func TestTheLanguagesAreThoseThatTheREADMENames(t *testing.T) {
	t.Parallel()
	ours, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"ar", "de", "en"}, ours.Languages()); diff != "" {
		t.Errorf("languages (-want +got):\n%s", diff)
	}
	for asked, want := range map[string]string{"ja": "en", "de-AT": "de", "ar-EG": "ar"} {
		if got := words.In(ours, asked).Code; got != want {
			t.Errorf("who asks for %s reads %s, want %s", asked, got, want)
		}
	}
}
