package public

import (
	"maps"
	"slices"

	"github.com/slotmesh/slotmesh/libs/locale"
	"github.com/slotmesh/slotmesh/libs/manifest"
)

// Sanitize returns the manifest with every description sanitized, in every language (semantics.md §6). It takes about a
// second of CPU for 5 MB of texts; [New] takes the rest.
func Sanitize(m *manifest.Manifest) *manifest.Manifest {
	clean, _ := SanitizeUntil(m, func() bool { return false })
	return clean
}

// SanitizeUntil is [Sanitize] for callers who may lose interest: it reports false, and gives no manifest, soon after stop
// returns true. HTML that was made to be dear takes twenty times as long as prose.
func SanitizeUntil(m *manifest.Manifest, stop func() bool) (*manifest.Manifest, bool) {
	stopped := false
	sanitize := func(text *string) {
		if stopped = stopped || stop(); !stopped {
			*text = locale.Sanitize(*text)
		}
	}
	clean := *m
	clean.Services, clean.Staff = slices.Clone(m.Services), slices.Clone(m.Staff)
	clean.Events, clean.Rentals = slices.Clone(m.Events), slices.Clone(m.Rentals)
	for i := range clean.Services {
		s := &clean.Services[i]
		sanitize(&s.DescriptionHTML)
		s.Translations = each(s.Translations, func(t *manifest.ServiceTranslation) { sanitize(&t.DescriptionHTML) })
	}
	for i := range clean.Staff {
		s := &clean.Staff[i]
		sanitize(&s.DescriptionHTML)
		s.Translations = each(s.Translations, func(t *manifest.StaffTranslation) { sanitize(&t.DescriptionHTML) })
	}
	for i := range clean.Events {
		e := &clean.Events[i]
		sanitize(&e.DescriptionHTML)
		e.Translations = each(e.Translations, func(t *manifest.EventTranslation) { sanitize(&t.DescriptionHTML) })
	}
	for i := range clean.Rentals {
		r := &clean.Rentals[i]
		sanitize(&r.DescriptionHTML)
		r.Translations = each(r.Translations, func(t *manifest.RentalTranslation) { sanitize(&t.DescriptionHTML) })
	}
	clean.Page = sanitizedPage(m.Page, sanitize)
	if stopped {
		return nil, false
	}
	return &clean, true
}

// SanitizePage returns the manifest with the one text sanitized that peers read in the offer: what the booking page says.
func SanitizePage(m *manifest.Manifest) *manifest.Manifest {
	clean := *m
	clean.Page = sanitizedPage(m.Page, func(text *string) { *text = locale.Sanitize(*text) })
	return &clean
}

func sanitizedPage(p *manifest.Page, sanitize func(*string)) *manifest.Page {
	if p == nil {
		return nil
	}
	clean := *p
	sanitize(&clean.AboutHTML)
	clean.Translations = each(p.Translations, func(t *manifest.PageTranslation) { sanitize(&t.AboutHTML) })
	return &clean
}

// each changes a copy of all translations.
func each[T any](translations map[manifest.Language]T, change func(*T)) map[manifest.Language]T {
	changed := maps.Clone(translations)
	for code, t := range translations {
		change(&t)
		changed[code] = t
	}
	return changed
}
