package view

import (
	"strings"
	"testing"
)

func TestThumbnailOfUploadIsSmallFileOfThisOrigin(t *testing.T) {
	t.Parallel()
	media := "/media/" + strings.Repeat("0a", 32)
	for address, want := range map[string]string{
		"https://book.example" + media + "-800.webp": media + "-200.jpg", media + "-800.webp": media + "-200.jpg",
		"https://cdn.example/cut.png":           "https://cdn.example/cut.png",
		"https://cdn.example/media/cut-800.png": "https://cdn.example/media/cut-800.png", "": "",
	} {
		if got := thumbnailSource(address, "jpg"); got != want {
			t.Errorf("%q: got %q, want %q", address, got, want)
		}
	}
}
