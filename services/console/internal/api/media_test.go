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

func TestLimitBodiesExceptsFormsWithPictures(t *testing.T) {
	t.Parallel()
	const multipart = "multipart/form-data; boundary=x"
	for _, c := range []struct {
		path, contentType string
		want              bool
	}{
		{"/business/harbor/offer/page", multipart, true},
		{"/business/harbor/offer/services/cut", multipart, true},
		{"/business/harbor/offer/services/new", multipart, true},
		{"/business/harbor/offer/services/cut/remove", multipart, false},
		{"/business/harbor/customers", multipart, false},
		{"/business/harbor/offer/page", "application/x-www-form-urlencoded", false},
		{"/business/harbor/offer/page", "", false},
		{"/admin/businesses/harbor", multipart, false},
	} {
		if got := isPictureForm(c.path, c.contentType); got != c.want {
			t.Errorf("%s of %s: %v, want %v", c.path, c.contentType, got, c.want)
		}
	}
}
