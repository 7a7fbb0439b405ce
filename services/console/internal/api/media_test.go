package api

import "testing"

func TestLimitBodiesExceptsOnlyUploads(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"/admin/businesses/harbor/media":       true,
		"/admin/businesses/media/media":        true,
		"/admin/businesses/media":              false, // the manifest of a business with the slug "media"
		"/admin/businesses/harbor/keys":        false,
		"/admin/businesses/harbor/x/media":     false,
		"/admin/businesses/harbor/media/0a1b2": false,
	} {
		if got := isUploadPath(path); got != want {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}
