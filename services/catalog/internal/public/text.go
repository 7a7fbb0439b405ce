package public

import (
	"github.com/slotmesh/slotmesh/libs/values/locale"
)

// Language selects the language of texts in an answer. If IsResolved is false, an answer has the
// default texts and all translations. If IsResolved is true, an answer has each text in the language
// `Code` only. A text without a translation into that language is shown in the default language.
type Language struct {
	IsResolved bool
	Code       string // language code of the business; if it is empty, the default texts are shown
}

// text is a text field of a manifest: the default text and its translations. The translations
// are a slice, because a map would take much more memory for a few translations.
type text struct {
	original     string
	translations []translation
}

// translation is a text and its language code.
type translation struct{ code, text string }

func (t text) show(l Language) string {
	if l.IsResolved {
		for _, other := range t.translations {
			if other.code == l.Code {
				return other.text
			}
		}
	}
	return t.original
}

// listTranslations returns the translations by language code, or nil if there are none.
func (t text) listTranslations() map[string]string {
	if len(t.translations) == 0 {
		return nil
	}
	all := make(map[string]string, len(t.translations))
	for _, other := range t.translations {
		all[other.code] = other.text
	}
	return all
}

// description holds a description as sanitized HTML, and as the visible text of that HTML. The two texts have
// translations into the same languages, so that an answer shows both in one language (interface.md §2, Localization 3).
type description struct{ html, plain text }

// newText returns a text with the translations that are not empty.
func newText[L ~string, T any](standard string, translations map[L]T, field func(T) string) text {
	t := text{original: standard}
	for code, translation := range translations {
		if s := field(translation); s != "" {
			t.add(string(code), s)
		}
	}
	return t
}

func (t *text) add(code, s string) { t.translations = append(t.translations, translation{code, s}) }

// newDescription returns a description from sanitized HTML and its
// sanitized translations. newDescription omits empty translations.
func newDescription[L ~string, T any](standard string, translations map[L]T, field func(T) string) description {
	d := description{html: text{original: standard}, plain: text{original: locale.VisibleText(standard)}}
	for code, translation := range translations {
		html := field(translation)
		if html == "" {
			continue
		}
		d.html.add(string(code), html)
		d.plain.add(string(code), locale.VisibleText(html))
	}
	return d
}
