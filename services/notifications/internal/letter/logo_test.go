package letter

import (
	"strings"
	"testing"
)

// TestPlaceLogoKeepsRatio shows that a logo replaces the initial, keeps its ratio and is at most 160 by 40 pixels.
func TestPlaceLogoKeepsRatio(t *testing.T) {
	t.Parallel()
	l, err := Render(BookingConfirmed, "en", newFacts(t, BookingConfirmed))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		width, height int
		want          string
	}{
		{800, 800, `width="40" height="40"`}, {400, 200, `width="80" height="40"`},
		{4000, 100, `width="160" height="4"`}, {1, 5000, `width="1" height="40"`},
	} {
		html, isPlaced := PlaceLogo(l.HTML, `cid:a"b`, c.width, c.height)
		if !isPlaced || !strings.Contains(html, `<img src="cid:a&#34;b" `+c.want) || strings.Contains(html, ">H</td>") {
			t.Errorf("%d × %d: %t %s", c.width, c.height, isPlaced, html)
		}
	}
	if html, isPlaced := PlaceLogo("<p>An older letter", "cid:logo", 1, 1); isPlaced || html != "<p>An older letter" {
		t.Errorf("a letter without a mark: %t %s", isPlaced, html)
	}
}
