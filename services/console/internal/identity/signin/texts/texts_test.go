package texts_test

import (
	"testing"

	"github.com/slotmesh/slotmesh/libs/values/message/messagetest"
)

func TestEveryLanguageHasTheSameSentencesWithTheSamePlaceholders(t *testing.T) {
	t.Parallel()
	messagetest.SameSentences(t)
}
