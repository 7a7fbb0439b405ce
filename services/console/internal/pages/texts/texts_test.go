package texts_test

import (
	"testing"

	"github.com/slotmesh/slotmesh/libs/message/messagetest"
	"github.com/slotmesh/slotmesh/libs/message/words"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/texts"
)

func TestEveryLanguageHasTheSameSentencesWithTheSamePlaceholders(t *testing.T) {
	t.Parallel()
	messagetest.SameSentences(t)
}

func TestWhoReadsAnotherLanguageReadsTheNearestElseEnglish(t *testing.T) {
	t.Parallel()
	ours, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	for asked, want := range map[string]string{"cy": "en", "de-AT": "de", "ar-EG": "ar", "pt-BR": "pt", "zh-CN": "zh"} {
		if got := words.In(ours, asked).Code; got != want {
			t.Errorf("who asks for %s reads %s, want %s", asked, got, want)
		}
	}
}
