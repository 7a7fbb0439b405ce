package view_test

import (
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/texts"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

func TestProblemSentencesCoverEveryCode(t *testing.T) {
	t.Parallel()
	catalog, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	params := map[string]string{}
	names := "Value Example Min Max Count Color Language Under With Fields"
	for name := range strings.FieldsSeq(names) {
		params[name] = name
	}
	for _, code := range append(manifest.Codes(), "", "of a later version") {
		w := words.In(catalog, "de")
		if sentence := w.Fill(view.ProblemSentence(code), params); sentence == "" || w.Fault() != nil {
			t.Errorf("%q: %q, %v", code, sentence, w.Fault())
		}
	}
}
