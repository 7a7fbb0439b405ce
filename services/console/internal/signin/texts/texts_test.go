package texts_test

import (
	"testing"

	"github.com/slotmesh/slotmesh/libs/testkit"
)

func TestEveryLanguageHasTheSameSentencesWithTheSamePlaceholders(t *testing.T) {
	t.Parallel()
	testkit.SameSentences(t)
}
