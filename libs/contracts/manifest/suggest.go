package manifest

import (
	"slices"
	"strings"

	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/libs/values/zone"
)

// hintAtField returns a hint that names the field most similar to
// the text `got`. If no field is similar, the hint lists all fields.
func hintAtField(got string, fields []string) string {
	return hintAt(nearestField(got, fields), "the fields are "+strings.Join(fields, ", "))
}

// hintAt returns a hint that asks whether the author meant the
// text `near`. If `near` is "", hintAt returns the fallback.
func hintAt(near, fallback string) string {
	if near != "" {
		return "did you mean " + near + "?"
	}
	return fallback
}

// nearestField returns the field that is most similar to the text `got`, or "" if no field is
// similar. It first searches for a field that differs only in case and separators, and then for a
// field that differs by at most two edits. Last, it compares `got` with the fields without their
// last word, such as minutes or html. This search returns a field only if a single field is similar.
func nearestField(got string, fields []string) string {
	if len(got) > maxHintLength {
		return ""
	}
	for _, f := range fields {
		if normalizeName(f) == normalizeName(got) {
			return f
		}
	}
	if near := findNearest(got, fields); near != "" {
		return near
	}
	isShort := func(f string) bool {
		i := strings.LastIndexByte(f, '_')
		return i > 0 && findNearest(strings.ToLower(got), []string{f[:i]}) != ""
	}
	if i := slices.IndexFunc(fields, isShort); i >= 0 && !slices.ContainsFunc(fields[i+1:], isShort) {
		return fields[i]
	}
	return ""
}

// maxHintLength is the maximal length of an invalid text for which a similar valid text is searched, in bytes.
const maxHintLength = 64

// normalizeName returns a name in lower case and without separators.
func normalizeName(name string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name))
}

// nearestZone returns the time zone that is most similar to the text `got`, or "" if no zone is
// similar. It first searches for a name that differs only in case and separators, and then for
// a zone whose city is `got`. Last, it searches for a name that differs by at most two edits.
func nearestZone(got string) string {
	if len(got) > maxHintLength {
		return ""
	}
	city := ""
	for _, name := range zone.Names() {
		if normalizeName(name) == normalizeName(got) {
			return name
		}
		if _, last, hasRegion := strings.Cut(name, "/"); hasRegion && city == "" &&
			normalizeName(last) == normalizeName(got) {
			city = name
		}
	}
	if city != "" {
		return city
	}
	return findNearest(got, zone.Names())
}

// currencySymbols maps common symbols and names of currencies to ISO 4217 codes.
var currencySymbols = map[string]string{
	"€": "EUR", "euro": "EUR", "euros": "EUR", "$": "USD", "us$": "USD", "dollar": "USD", "£": "GBP", "pound": "GBP",
	"¥": "JPY", "yen": "JPY",
	"chf.": "CHF", "fr.": "CHF", "franc": "CHF", "₹": "INR", "rupee": "INR", "zł": "PLN", "kč": "CZK", "r$": "BRL",
	"real": "BRL", "rmb": "CNY", "yuan": "CNY",
}

// nearestCurrency returns the currency code that is most similar to the text `got`, or "" if
// none is similar. Among equally similar codes, it prefers the codes of common currencies.
func nearestCurrency(got string) string {
	if len(got) > maxHintLength {
		return ""
	}
	if code := currencySymbols[strings.ToLower(got)]; code != "" {
		return code
	}
	return findNearest(strings.ToUpper(got), slices.Concat([]string{"EUR", "USD", "GBP", "CHF", "JPY", "CAD", "AUD"},
		money.Codes()))
}

// Nearest returns the candidate that is most similar to the text `got`, or "" if none is similar.
func Nearest(got string, candidates []string) string { return findNearest(got, candidates) }

// findNearest returns the candidate that differs least from the text `got`: by at most two edits, or
// by one edit if `got` has fewer than four letters. It returns "" if there is no such candidate.
func findNearest(got string, candidates []string) string {
	best, maxEdits := "", 2
	if len(got) < 4 {
		maxEdits = 1
	}
	for _, c := range candidates {
		if len(c)-len(got) > maxEdits || len(got)-len(c) > maxEdits {
			continue
		}
		if n := distance(got, c); n <= maxEdits {
			best, maxEdits = c, n-1
		}
	}
	return best
}

// distance returns the minimal number of edits that change the text `a` into the text `b`.
// An edit inserts, removes or replaces a letter, or swaps two neighbouring letters.
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
