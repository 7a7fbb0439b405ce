package public

import (
	"maps"
	"slices"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/values/locale"
)

// Sanitize returns a copy of the manifest in which every description, in every language, is
// sanitized HTML (semantics.md §6). Sanitizing 5 MB of text takes about a second of CPU time.
func Sanitize(m *manifest.Manifest) *manifest.Manifest {
	copied, _ := SanitizeUntil(m, func() bool { return false })
	return copied
}

// SanitizeUntil does the same as [Sanitize], but the caller can stop it, because malicious HTML can take twenty
// times as long as usual text. Soon after the function `stop` returns true, SanitizeUntil returns nil and false.
func SanitizeUntil(m *manifest.Manifest, stop func() bool) (*manifest.Manifest, bool) {
	isStopped := false
	sanitize := func(text *string) {
		if isStopped = isStopped || stop(); !isStopped {
			*text = locale.Sanitize(*text)
		}
	}
	clean := *m
	clean.Services, clean.Staff = slices.Clone(m.Services), slices.Clone(m.Staff)
	clean.Events, clean.Rentals = slices.Clone(m.Events), slices.Clone(m.Rentals)
	for i := range clean.Services {
		s := &clean.Services[i]
		sanitize(&s.DescriptionHTML)
		s.Translations = changeAll(s.Translations, func(t *manifest.ServiceTranslation) {
			sanitize(&t.DescriptionHTML)
		})
	}
	for i := range clean.Staff {
		s := &clean.Staff[i]
		sanitize(&s.DescriptionHTML)
		s.Translations = changeAll(s.Translations, func(t *manifest.StaffTranslation) { sanitize(&t.DescriptionHTML) })
	}
	for i := range clean.Events {
		e := &clean.Events[i]
		sanitize(&e.DescriptionHTML)
		e.Translations = changeAll(e.Translations, func(t *manifest.EventTranslation) { sanitize(&t.DescriptionHTML) })
	}
	for i := range clean.Rentals {
		r := &clean.Rentals[i]
		sanitize(&r.DescriptionHTML)
		r.Translations = changeAll(r.Translations, func(t *manifest.RentalTranslation) { sanitize(&t.DescriptionHTML) })
	}
	sanitizeForSnapshot(&clean, sanitize)
	if isStopped {
		return nil, false
	}
	return &clean, true
}

// SanitizeForSnapshot returns a copy of the manifest in which only the text of the booking page and the directions of
// locations are sanitized, in every language. A snapshot contains no other HTML.
func SanitizeForSnapshot(m *manifest.Manifest) *manifest.Manifest {
	clean := *m
	sanitizeForSnapshot(&clean, func(text *string) { *text = locale.Sanitize(*text) })
	return &clean
}

// sanitizeForSnapshot applies the function `sanitize` to the HTML in m that a snapshot contains. It changes
// copies of the page and of the locations. The originals, to which another manifest may refer, stay unchanged.
func sanitizeForSnapshot(m *manifest.Manifest, sanitize func(*string)) {
	if m.Page != nil {
		p := *m.Page
		sanitize(&p.AboutHTML)
		p.Translations = changeAll(p.Translations, func(t *manifest.PageTranslation) { sanitize(&t.AboutHTML) })
		m.Page = &p
	}
	m.Locations = slices.Clone(m.Locations)
	for i := range m.Locations {
		l := &m.Locations[i]
		sanitize(&l.DirectionsHTML)
		l.Translations = changeAll(l.Translations, func(t *manifest.LocationTranslation) {
			sanitize(&t.DirectionsHTML)
		})
	}
}

// changeAll returns a copy of the map `translations` in which the function `change` was applied to each translation.
func changeAll[T any](translations map[manifest.Language]T, change func(*T)) map[manifest.Language]T {
	out := maps.Clone(translations)
	for code, t := range translations {
		change(&t)
		out[code] = t
	}
	return out
}
