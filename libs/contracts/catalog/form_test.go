package catalog_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

func newQuestion(kind string, required bool) catalog.Question {
	q := catalog.Question{Key: "q", Label: catalog.Label{Text: "Question",
		Translations: map[string]string{"pt": "Pergunta"}}, Type: kind, Required: required}
	switch kind {
	case catalog.QuestionText, catalog.QuestionTextarea:
		q.MaxLength = 5
	case catalog.QuestionSelect:
		q.Options = []catalog.QuestionOption{{Key: "new"}, {Key: "old"}}
	}
	return q
}

func TestAnswersParsesByType(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind  string
		given any
		kept  any
		wrong catalog.FieldError
	}{
		{"text", " nuts ", "nuts", ""}, {"text", "äöüßé", "äöüßé", ""}, {"text", "123456", nil, "too_long"},
		{"text", "a\nb", nil, "character"},
		{"text", json.Number("1"), nil, "type"}, {"text", map[string]any{}, nil, "type"}, {"text", "  ", nil, ""},
		{"text", nil, nil, ""},
		{"textarea", "a\nb", "a\nb", ""}, {"textarea", "a\x1bb", nil, "character"},
		{"textarea", "123456", nil, "too_long"},
		{"number", json.Number("-1.5"), json.Number("-1.5"), ""}, {"number", "12", json.Number("12"), ""},
		{"number", "1e9", nil, "number"},
		{"number", "two", nil, "number"}, {"number", true, nil, "number"},
		{"number", strings.Repeat("1", 41), nil, "number"}, {"number", "01", nil, "number"},
		{"select", "old", "old", ""}, {"select", "young", nil, "option"}, {"select", true, nil, "type"},
		{"checkbox", true, true, ""}, {"checkbox", false, false, ""}, {"checkbox", "on", nil, "type"},
		{"date", "2027-02-28", "2027-02-28", ""}, {"date", "2027-02-29", nil, "date"},
		{"phone", "+351 (21) 1-2.3/4", "+351 (21) 1-2.3/4", ""}, {"phone", "call me", nil, "phone"},
		{"phone", "+", nil, "phone"}, {"phone", strings.Repeat("1", 51), nil, "phone"},
	} {
		kept, wrong := catalog.Answers([]catalog.Question{newQuestion(c.kind, false)}, map[string]any{"q": c.given})
		if c.wrong != "" {
			if len(wrong) != 1 || wrong[0].Wrong != c.wrong || !strings.HasPrefix(wrong[0].Error(),
				`form_data.q: "Question" `) {
				t.Errorf("%s, %v: got %v, want %s", c.kind, c.given, wrong, c.wrong)
			}
			continue
		}
		if len(wrong) != 0 || kept["q"] != c.kept {
			t.Errorf("%s, %v: stored answers %v, errors %v, want %v", c.kind, c.given, kept["q"], wrong, c.kept)
		}
	}
}

func TestAnswersRequiresAnswersAndConsents(t *testing.T) {
	t.Parallel()
	for kind, wrong := range map[string]catalog.FieldError{
		"text": "missing", "textarea": "missing", "number": "missing", "select": "missing", "date": "missing",
		"phone": "missing", "checkbox": "unticked",
	} {
		for _, given := range []any{nil, "", " \t"} {
			if _, got := catalog.Answers([]catalog.Question{newQuestion(kind, true)},
				map[string]any{"q": given}); len(got) != 1 || got[0].Wrong != wrong {
				t.Errorf("%s, %q: got %v, want %s", kind, given, got, wrong)
			}
		}
	}
	if _, got := catalog.Answers([]catalog.Question{newQuestion("checkbox", true)},
		map[string]any{"q": false}); len(got) != 1 || got[0].Wrong != catalog.FieldUnticked {
		t.Errorf("an unticked box that is required: got %v", got)
	}
}

func TestAnswersSeparatesConsentsAndDropsUnknown(t *testing.T) {
	t.Parallel()
	news := newQuestion("checkbox", false)
	news.Key, news.Consent = "news", true
	level := newQuestion("text", false)
	level.Key = "level"
	kept, wrong := catalog.Answers([]catalog.Question{news, level}, map[string]any{
		"level": "new", "news": true, "gone": "x", "_other": 1, "_consent": map[string]any{"news": true, "gone": true},
	})
	if diff := cmp.Diff(map[string]any{"level": "new", "_consent": map[string]any{"news": true}}, kept); diff != "" ||
		wrong != nil {
		t.Errorf("wrong %v (-want +got):\n%s", wrong, diff)
	}
	for _, consent := range []any{nil, true, "yes", map[string]any{}, map[string]any{"gone": true}} {
		if kept, wrong := catalog.Answers([]catalog.Question{news},
			map[string]any{"news": true, "_consent": consent}); len(kept) != 0 || wrong != nil {
			t.Errorf("the consent %v: stored answers %v, errors %v", consent, kept, wrong)
		}
	}
}

func TestQuestionsDependOnServices(t *testing.T) {
	t.Parallel()
	all, ofCut := newQuestion("text", false), newQuestion("text", false)
	all.Key, ofCut.Key, ofCut.ServiceIDs = "all", "cut", []uuid.UUID{cut}
	o := &catalog.Snapshot{Form: []catalog.Question{ofCut, all}}
	keys := func(services ...uuid.UUID) []string {
		var list []string
		for _, q := range o.Questions(services...) {
			list = append(list, q.Key)
		}
		return list
	}
	if diff := cmp.Diff([][]string{{"cut", "all"}, {"all"}, {"cut", "all"}},
		[][]string{keys(cut), keys(yoga), keys(yoga, cut)}); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if q := all.Label; q.In("pt") != "Pergunta" || q.In("de") != "Question" {
		t.Errorf("got %s and %s", q.In("pt"), q.In("de"))
	}
}

func TestCheckAnswersEnforcesFormForKeys(t *testing.T) {
	t.Parallel()
	consent := newQuestion(catalog.QuestionCheckbox, true)
	consent.Key, consent.Consent = "consent", true
	optional := newQuestion(catalog.QuestionNumber, false)
	optional.Key = "optional"
	form := []catalog.Question{newQuestion(catalog.QuestionText, true), consent, optional}
	none, own := map[string]any{"optional": "two"}, map[string]any{"q": "nuts", "optional": "two", "more": "kept"}
	for _, c := range []struct {
		name      string
		by        actor.Kind
		isForced  bool
		given     map[string]any
		isRefused bool
	}{
		{"a key", actor.APIKey, false, none, false},
		{"a key of a business that enforces", actor.APIKey, true, none, true},
		{"a key with the answer", actor.APIKey, true, own, false},
		{"a key with a wrong answer", actor.APIKey, true, map[string]any{"q": true}, true},
		{"the page", actor.Page, false, none, true},
		{"the owner", actor.Owner, true, none, false},
	} {
		snapshot := &catalog.Snapshot{Form: form, FormEnforceAPI: c.isForced}
		kept, err := snapshot.CheckAnswers(actor.Actor{Kind: c.by}, c.given)
		if (err != nil) != c.isRefused {
			t.Errorf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.given, kept); err == nil && diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
