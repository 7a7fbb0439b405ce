package etag_test

import (
	"testing"

	"github.com/slotmesh/slotmesh/services/catalog/internal/etag"
)

func TestTagsStandForTheirBytes(t *testing.T) {
	t.Parallel()
	tag := etag.Of([]byte("a"))
	if tag != etag.Of([]byte("a")) || tag == etag.Of([]byte("b")) || tag[0] != '"' || tag[len(tag)-1] != '"' {
		t.Error(tag)
	}
}

func TestMatchReadsTheHeaderAsTheRFCWritesIt(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		`"a"`: true, `W/"a"`: true, `"b", "a"`: true, `"b",W/"a" `: true, `*`: true,
		``: false, `"b"`: false, `a`: false, `"a`: false, `"A"`: false, `,`: false, `w/"a"`: false,
	} {
		if got := etag.Match(header, `"a"`); got != want {
			t.Errorf("%s matches: %t", header, got)
		}
	}
}
