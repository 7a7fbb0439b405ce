package assets

import "testing"

// What other sites include costs their visitors, too (pages.md).
func TestTheScriptOfOtherSitesIsSmall(t *testing.T) {
	t.Parallel()
	script, err := Files.ReadFile("dist/embed.js")
	if err != nil {
		t.Fatal(err)
	}
	if most := 3 << 10; len(script) == 0 || len(script) > most {
		t.Errorf("%d bytes, at most %d", len(script), most)
	}
}
