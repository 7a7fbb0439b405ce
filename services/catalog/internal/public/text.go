package public

import (
	"github.com/slotmesh/slotmesh/libs/values/locale"
)

// Language selects the language of texts in an answer. With the zero Language, an answer has the
// default texts and all their translations. Otherwise it has each text only in the language Code, or
// the default text if that translation is missing.
type Language struct {
	Resolved bool
	Code     string // one of the business's languages; empty means the default texts
}

// text is a field of a manifest in the default language, with its translations. They are a list,
// because a map would take much more memory for the few that there are.
type text struct {
	standard string
	in       []translated
}

// translated is a text and its language code.
type translated struct{ code, text string }

func (t text) show(l Language) string {
	if l.Resolved {
		for _, other := range t.in {
			if other.code == l.Code {
				return other.text
			}
		}
	}
	return t.standard
}

// all returns the translations by language code, or nil if there are none.
func (t text) all() map[string]string {
	if len(t.in) == 0 {
		return nil
	}
	all := make(map[string]string, len(t.in))
	for _, other := range t.in {
		all[other.code] = other.text
	}
	return all
}

// description holds a description as sanitized HTML and as the visible text of that HTML. Both have the
// same translations, so an answer shows both in the same language (interface.md §2, Localization 3).
type description struct{ html, plain text }

// newText returns a text with the translations that are not empty.
func newText[L ~string, T any](standard string, translations map[L]T, field func(T) string) text {
	t := text{standard: standard}
	for code, translation := range translations {
		if s := field(translation); s != "" {
			t.add(string(code), s)
		}
	}
	return t
}

func (t *text) add(code, s string) { t.in = append(t.in, translated{code, s}) }

// newDescription sanitizes a description and its translations. It omits a translation that is empty after sanitizing.
func newDescription[L ~string, T any](standard string, translations map[L]T, field func(T) string) description {
	d := description{html: text{standard: standard}, plain: text{standard: locale.VisibleText(standard)}}
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
