package testkit_test

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/testkit"
)

func TestFindRecognizesEncodings(t *testing.T) {
	t.Parallel()
	for before := range 4 {
		text := strings.Repeat("-", before) + "Hazelnuts? and more"
		for _, written := range []string{
			text, strings.ToUpper(text), hex.EncodeToString([]byte(text)),
			strings.ToUpper(hex.EncodeToString([]byte(text))),
			base64.StdEncoding.EncodeToString([]byte(text)), base64.RawURLEncoding.EncodeToString([]byte(text)),
		} {
			if found := testkit.Find("{"+written+"}", "hazelnuts?", "pistachio", "s? an"); !slices.Equal(found,
				[]string{"hazelnuts?", "s? an"}) {
				t.Errorf("in %q the test finds %q", written, found)
			}
		}
	}
}
