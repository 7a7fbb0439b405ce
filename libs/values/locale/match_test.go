package locale

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var matches = []struct{ requested, languages, want string }{
	// The language itself.
	{"pt", "en pt", "pt"},
	{"PT", "en pt", "pt"},
	{"pt-br", "en pt pt-BR", "pt-BR"},
	{"ZH-hans-cn", "zh-Hant zh-Hans-CN", "zh-Hans-CN"},
	// More general, more special, or the region next door.
	{"pt-BR", "en pt", "pt"},
	{"pt-BR-u-nu-latn", "en pt", "pt"},
	{"pt-XX", "en pt", "pt"},
	{"de-DE-1996", "en de", "de"},
	{"en-x-private", "pt en", "en"},
	{"pt", "en pt-PT", "pt-PT"},
	{"pt-BR", "en pt-PT", "pt-PT"},
	{"en-AU", "en-US en-GB", "en-GB"},
	{"es-MX", "es-ES es-419", "es-419"},
	{"de-AT", "de de-CH", "de"},
	// Names of one language.
	{"iw", "en he", "he"},
	{"nb-NO", "en no", "no"},
	{"no", "en nb", "nb"},
	{"cmn", "en zh", "zh"},
	{"por", "en pt", "pt"},
	// Scripts.
	{"zh-TW", "zh-Hans zh-Hant", "zh-Hant"},
	{"zh-HK", "zh zh-TW", "zh-TW"},
	{"zh-SG", "zh-TW zh", "zh"},
	{"zh-TW", "en zh", "zh"},
	{"zh", "en zh-Hant", "zh-Hant"},
	{"zh-TW", "en zh-Hans", ""},
	{"zh-Hant", "en zh-CN", ""},
	{"sr-Latn", "sr-Cyrl sr-Latn", "sr-Latn"},
	{"sr-Latn", "sr-Cyrl", ""},
	{"sr-Latn", "sr", "sr"},
	// Other languages, however near.
	{"fr", "en pt", ""},
	{"ca", "es", ""},
	{"nn", "nb", ""},
	{"gl", "pt es", ""},
	{"da", "nb", ""},
	{"uk", "ru", ""},
	{"pt", "", ""},
	// No tag of a language.
	{"", "en", ""},
	{"*", "en", ""},
	{"und", "en", ""},
	{"x-private", "en", ""},
	{"xx", "en", ""},
	{"p", "pt", ""},
	{"pt_BR", "pt", ""},
	{"pt-", "pt", ""},
	{"-pt", "pt", ""},
	{"pt--BR", "pt", ""},
	{" pt", "pt", ""},
	{"pt\x00", "pt", ""},
	{"pt;q=0.8", "pt", ""},
	{"pt,en", "pt", ""},
	{"p\xfft", "pt", ""},
	{"português", "pt", ""},
	{"en" + strings.Repeat("-a-bcdef", 5000), "en", ""},
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, c := range matches {
		got, ok := Match(c.requested, strings.Fields(c.languages))
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%.40q among [%s]: got %q, %t; want %q", c.requested, c.languages, got, ok, c.want)
		}
	}
}

var codes = strings.Fields("en de fr es it pt nl pl cs sk hu ro bg el hr sl sr et lv lt fi sv da nb is uk ru tr ar he ja ko zh vi th id")

func TestMatchFindsEveryLanguageInAnyRegion(t *testing.T) {
	t.Parallel()
	for _, code := range codes {
		for _, requested := range []string{code, strings.ToUpper(code), code + "-XK"} {
			if got, ok := Match(requested, codes); !ok || got != code {
				t.Errorf("%s finds %q, %t", requested, got, ok)
			}
		}
	}
}

func TestMatchKeepsBaseLanguage(t *testing.T) {
	t.Parallel()
	suffix := rapid.SampledFrom([]string{"", "-BR", "-Latn", "-419", "-u-nu-latn", "-x-a"})
	rapid.Check(t, func(t *rapid.T) {
		languages := rapid.SliceOfDistinct(rapid.SampledFrom(codes), rapid.ID[string]).Draw(t, "languages")
		base := rapid.SampledFrom(codes).Draw(t, "base")
		got, ok := Match(base+suffix.Draw(t, "suffix"), languages)
		if ok && got != base {
			t.Fatalf("%s found %s", base, got)
		}
		if !ok && got != "" {
			t.Fatalf("nothing was found, but %q returned", got)
		}
	})
}

func FuzzMatch(f *testing.F) {
	for _, s := range []string{"pt-BR", "zh-Hant-HK", "x-a", "i-klingon", "en-u-nu-latn", "*", "\xff",
		"sl-rozaj-biske-1994"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, requested string) {
		if got, ok := Match(requested, codes); ok && !strings.Contains(strings.Join(codes, " "), got) {
			t.Fatalf("%q found %q, which is not offered", requested, got)
		}
	})
}
