package email_test

import (
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/values/email"
)

func TestValid(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"zoe@example.com", "zoë.o'neil+x@bücher.example", "a@b.c",
		strings.Repeat("a", 64) + "@example.com"} {
		if !email.Valid(s) {
			t.Errorf("%q was refused", s)
		}
	}
	for _, s := range []string{
		"", "zoe", "@example.com", "zoe@", "zoe@localhost", "a b@example.com", "zoe@example..com", "zoe@-x.com",
		"<zoe@example.com>",
		"a@b@c.com", strings.Repeat("a", 65) + "@example.com", "zoe@" + strings.Repeat("a", 250) + ".com",
		"zoe@example.com\r\nBcc: x@example.com",
		"zoe\u202e@example.com", "zoe\u200b@example.com", "a@b.c,d@e.f", "zoe@example.com\x00", "zo\xffe@example.com",
	} {
		if email.Valid(s) {
			t.Errorf("%q was accepted", s)
		}
	}
}

func TestMaskKeepsFirstLetterAndDomain(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"maria@example.com": "m…@example.com", "é@x.fr": "é…@x.fr", `"a@b"@x.fr`: `"…@x.fr`, "": "", "maria": "",
	} {
		if got := email.Mask(&address); got != want {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
}
