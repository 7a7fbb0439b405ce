package texts_test

import (
	"testing"

	"github.com/slotmesh/slotmesh/libs/values/message/messagetest"
)

func TestTextsHaveSameKeysAndPlaceholders(t *testing.T) {
	t.Parallel()
	messagetest.SameSentences(t)
}
