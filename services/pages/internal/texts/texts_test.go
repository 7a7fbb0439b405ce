package texts_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/message"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/pages/internal/texts"
)

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
	testkit.SameSentences(t)
}
