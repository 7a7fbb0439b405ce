package words

import (
	"cmp"
	"slices"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
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

// SortByName sorts the list by the names that the function `name` returns for its elements. It uses the alphabetical
// order of the language of `w`.
func SortByName[T any](w *Words, list []T, name func(T) string) {
	order := collate.New(language.Make(w.Code))
	slices.SortStableFunc(list, func(a, b T) int { return order.CompareString(name(a), name(b)) })
}
