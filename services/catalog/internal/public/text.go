package public

import (
	"github.com/slotmesh/slotmesh/libs/locale"
)

// Language says how texts are shown. The zero Language shows the default texts with all their translations beside
// them; a resolved one shows each text in Code, or the default where there is none, and no translations.
type Language struct {
	Resolved bool
	Code     string // one of the business's languages; empty: the default texts
}

// text is one field in the default language, and its translations: a list, as there are few, of which a map would take
// many times the room.
type text struct {
	standard string
	in       []translated
}

// translated is a text in the language with this code.
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

// all are the translations by language code; nil where there are none.
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

// description is a description as sanitized HTML and as the visible text of just that. Both have the same
// translations, so that they are always shown in the same language (interface.md §2, Localization 3).
type description struct{ html, plain text }

// newText takes the translations that say something.
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

// newDescription takes a sanitized description and its translations. One of which nothing remains counts as left out.
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
