package view

import (
	"strings"
	"testing"
)

func TestPictureSourceOfUploadIsPath(t *testing.T) {
	t.Parallel()
	path := "/media/" + strings.Repeat("0a", 32) + "-800.webp"
	for address, want := range map[string]string{
		"https://book.example" + path: path, path: path, "": "",
		"https://cdn.example/cut.png":           "https://cdn.example/cut.png",
		"https://cdn.example/media/cut-800.png": "https://cdn.example/media/cut-800.png",
	} {
		if got := pictureSource(address); got != want {
			t.Errorf("%q: got %q, want %q", address, got, want)
		}
	}
}
