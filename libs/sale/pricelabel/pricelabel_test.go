package pricelabel_test

import (
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/sale/pricelabel"
	"github.com/slotmesh/slotmesh/libs/values/rule"
)

var languages = []string{
	"en", "de", "fr", "es", "it", "pt", "nl", "pl", "cs", "sk", "hu", "ro", "bg", "el", "hr", "sl", "sr", "et", "lv",
	"lt", "fi",
	"sv", "da", "nb", "is", "uk", "ru", "tr", "ar", "he", "ja", "ko", "zh", "vi", "th", "id",
}

func TestEveryKindHasLabelInEveryLanguage(t *testing.T) {
	t.Parallel()
	for _, spec := range rule.Kinds {
		english := pricelabel.FindStandardLabel(spec.Kind, "missing", "en")
		for _, language := range languages {
			got := pricelabel.FindStandardLabel(spec.Kind, "missing", language)
			same := got == english && language != "en"
			if got == "missing" || got == "" || same && got != "Last minute" {
				t.Errorf("%s in %s: %q", spec.Kind, language, got)
			}
		}
	}
}

func TestFindLabelPrefersOwnersLabel(t *testing.T) {
	t.Parallel()
	own := catalog.Rule{Key: "group", Kind: rule.PartySize,
		Label: catalog.Label{Text: "Groups of four", Translations: map[string]string{"pt": "Grupos de quatro"}}}
	plain := catalog.Rule{Key: "group", Kind: rule.PartySize}
	for _, c := range []struct {
		rule           *catalog.Rule
		language, want string
	}{
		{&own, "pt", "Grupos de quatro"},
		{&own, "de", "Groups of four"},
		{&plain, "de", "Gruppenpreis"},
		{&plain, "xx", "Group price"},
	} {
		if got := pricelabel.FindLabel(c.rule, c.language); got != c.want {
			t.Errorf("%s in %s: %q, want %q", c.rule.Key, c.language, got, c.want)
		}
	}
}
