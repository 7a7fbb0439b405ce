package words

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
	"golang.org/x/text/unicode/norm"
)

// NameOf returns the name of a language in that language, for menus in which
// readers choose a language. It returns the tag if the name is unknown.
func NameOf(tag string) string {
	parsed, err := language.Parse(tag)
	if err != nil {
		return tag
	}
	if name := display.Self.Name(parsed); name != "" {
		return name
	}
	return tag
}

// Country returns the name of a country in the language of `w`; see [CountryName].
func (w *Words) Country(code string) string { return CountryName(code, w.Code) }

// CountryName returns the name of a country in the language `tag`. The argument `code` is the country's code of ISO
// 3166-1 alpha-2. CountryName returns `code` if the name is unknown.
func CountryName(code, tag string) string {
	region, err := language.ParseRegion(code)
	names := display.Regions(language.Make(tag))
	if err != nil || names == nil {
		return code
	}
	return cmp.Or(names.Name(region), code)
}

// SortByName sorts the list by the names that the function `name` returns for its elements. Case and accents do not
// count, so that "Österreich" is between "Oman" and "Pakistan". The rules of a single language, such as Å after Z in
// Swedish, are not applied: their tables would make every program 0.3 MB larger.
func SortByName[T any](list []T, name func(T) string) {
	slices.SortStableFunc(list, func(a, b T) int {
		return cmp.Or(cmp.Compare(foldName(name(a)), foldName(name(b))), cmp.Compare(name(a), name(b)))
	})
}

// foldName returns the text in lower case and without accents.
func foldName(text string) string {
	return strings.ToLower(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, norm.NFD.String(text)))
}
