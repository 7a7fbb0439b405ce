package assets

import "testing"

// TestEmbedScriptIsSmall shows that the embedding script has at most 3 KiB. Visitors of other sites load it,
// too (pages.md).
func TestEmbedScriptIsSmall(t *testing.T) {
	t.Parallel()
	script, err := Files.ReadFile("dist/embed.js")
	if err != nil {
		t.Fatal(err)
	}
	if maxBytes := 3 << 10; len(script) == 0 || len(script) > maxBytes {
		t.Errorf("%d bytes, at most %d", len(script), maxBytes)
	}
}
