package email_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/values/email"
)

func TestCanonicalUnifiesSpellings(t *testing.T) {
	t.Parallel()
	for want, spellings := range map[string][]string{
		"zoe@example.com": {"zoe@example.com", "ZOE@Example.COM", "ｚｏｅ@example.com", "zoe@ｅｘａｍｐｌｅ.com"},
		"zo\u00eb@example.com": {"zo\u00eb@example.com", "zoe\u0308@example.com", "ZO\u00cb@example.com",
			"ZOE\u0308@EXAMPLE.COM"},
		"info@xn--bcher-kva.example": {"info@b\u00fccher.example", "info@B\u00dcCHER.example",
			"INFO@xn--bcher-kva.example", "info@bu\u0308cher.EXAMPLE"},
		// it is not strasse@, which is another mailbox
		"stra\u00dfe@example.com":         {"stra\u00dfe@example.com", "STRA\u1e9eE@example.com"},
		"strasse@example.com":             {"strasse@example.com", "STRASSE@example.com"},
		"zoe.o'neil+spring@sub.a.example": {"Zoe.O'Neil+Spring@Sub.A.example"},
	} {
		for _, s := range spellings {
			if got := email.Canonical(s); got != want {
				t.Errorf("%q is %q, want %q", s, got, want)
			}
		}
	}
}

// TestCanonicalReturnsValidAddress checks that the canonical spelling of a valid address is valid. For example, it has
// no second @.
func TestCanonicalReturnsValidAddress(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.StringOfN(rapid.RuneFrom([]rune("azAZ09.-+_\u00dc\u00fc\u0308\u0130\u0131\u1e9e\u00df\u03a3\u03c2\uff5a\ufe6b\uff20\ufb01\u212a\u2126\u01c4")), 1, 12, -1)
		address := part.Draw(t, "local") + "@" + part.Draw(t, "label") + "." + part.Draw(t, "domain")
		if !email.Valid(address) {
			t.Skip("not an address")
		}
		got := email.Canonical(address)
		if !email.Valid(got) || strings.Count(got, "@") != 1 {
			t.Fatalf("%q becomes %q", address, got)
		}
		if again := email.Canonical(got); again != got {
			t.Fatalf("%q becomes %q, and that %q", address, got, again)
		}
		upper := strings.Map(func(r rune) rune {
			if 'a' <= r && r <= 'z' {
				return r - 'a' + 'A'
			}
			return r
		}, address)
		if email.Canonical(upper) != got {
			t.Fatalf("%q and %q differ: %q, %q", address, upper, got, email.Canonical(upper))
		}
	})
}
