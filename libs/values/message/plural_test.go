package message

import (
	"testing"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
)

// TestPluralRulesAgreeWithCLDR compares the rules with golang.org/x/text. Its tables are older: CLDR has since removed
// "many" from Hebrew, added "one" to Vietnamese, and added "many" for millions to four languages.
func TestPluralRulesAgreeWithCLDR(t *testing.T) {
	t.Parallel()
	names := map[plural.Form]category{plural.Zero: zero, plural.One: one, plural.Two: two, plural.Few: few,
		plural.Many: many, plural.Other: other}
	for code, find := range plurals {
		for n := range 1300 {
			want, got := names[plural.Cardinal.MatchPlural(language.Make(code), n, 0, 0, 0, 0)], find(n)
			switch {
			case code == "he" && want == many:
				want = other
			case code == "vi" && n <= 1:
				want = one
			}
			if got != want {
				t.Fatalf("%s: %d is %q, want %q", code, n, got, want)
			}
		}
	}
	for _, code := range []string{"es", "fr", "it", "pt"} {
		if got := plurals[code](3_000_000); got != many {
			t.Errorf("%s: 3000000 is %q, want %q", code, got, many)
		}
	}
}
