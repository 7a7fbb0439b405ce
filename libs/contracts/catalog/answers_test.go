package catalog_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

func TestAnswersInKeepsQuestionOrder(t *testing.T) {
	t.Parallel()
	asked := func(key, label, kind string) catalog.Question {
		return catalog.Question{Key: key,
			Label: catalog.Label{Text: label, Translations: map[string]string{"pt": label + " (pt)"}}, Type: kind}
	}
	level := asked("level", "Level", catalog.QuestionSelect)
	level.Options = []catalog.QuestionOption{{Key: "new",
		Label: catalog.Label{Text: "Beginner", Translations: map[string]string{"pt": "Principiante"}}}}
	photos := asked("photos", "Photos", catalog.QuestionCheckbox)
	photos.Consent = true
	snapshot := &catalog.Snapshot{Form: []catalog.Question{asked("weight", "Weight", catalog.QuestionNumber), level,
		photos,
		asked("notes", "Notes", catalog.QuestionTextarea)}}
	got := [][2]string{}
	stored := json.RawMessage(`{"shoe":"42","level":"new","weight":71.50,"_consent":{"photos":true}}`)
	for _, a := range snapshot.AnswersIn(stored) {
		got = append(got, [2]string{a.Question.Label.In("pt"), a.Text("pt", "Sim", "Não")})
	}
	want := [][2]string{{"Weight (pt)", "71.50"}, {"Level (pt)", "Principiante"}, {"Photos (pt)", "Sim"},
		{"shoe", "42"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := snapshot.AnswersIn(nil); got != nil {
		t.Errorf("without form_data: %v", got)
	}
}

func TestAnswersCountsLineBreakOnce(t *testing.T) {
	t.Parallel()
	q := catalog.Question{Key: "q", Label: catalog.Label{Text: "Question"}, Type: catalog.QuestionTextarea,
		MaxLength: 7}
	kept, wrong := catalog.Answers([]catalog.Question{q}, map[string]any{"q": "abc\r\ndef"})
	if len(wrong) > 0 || kept["q"] != "abc\ndef" {
		t.Errorf("got %q, %v", kept["q"], wrong)
	}
}
