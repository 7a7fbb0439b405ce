package form_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/form"
)

var pictureFields = []form.Field{{Name: "logo", Kind: form.Picture}, {Name: "page.gallery", Kind: form.Pictures}}

func TestPictureButtonsChangeTheField(t *testing.T) {
	t.Parallel()
	for button, want := range map[string]string{
		"page.gallery.earlier.1": "logo=x b a c", "page.gallery.later.1": "logo=x a c b",
		"page.gallery.remove.1": "logo=x a c", "page.gallery.earlier.0": "logo=x a b c",
		"page.gallery.later.2": "logo=x a b c", "logo.remove": "logo= a b c", "logo.earlier.0": "logo=x a b c",
		"page.gallery.remove": "logo=x a b c", "page.gallery.remove.3": "logo=x a b c",
		"page.gallery.remove.-1": "logo=x a b c", "page.gallery.remove.x": "logo=x a b c", "name.remove.0": "logo=x a b c",
	} {
		values := url.Values{"logo": {"x"}, "page.gallery": {"a", "b", "c", ""}}
		form.HandleButton(values, pictureFields, button)
		got := strings.Join(append([]string{"logo=" + values.Get("logo")}, form.ListPictures(values, "page.gallery")...), " ")
		if got != want {
			t.Errorf("%s: %s, want %s", button, got, want)
		}
	}
}

func TestAddPictureReplacesOrAppends(t *testing.T) {
	t.Parallel()
	values := url.Values{"logo": {"x"}, "page.gallery": {"a", ""}}
	for _, name := range []string{"logo", "page.gallery", "page.gallery"} {
		if !form.AddPicture(values, pictureFields, name, "new") {
			t.Errorf("%s is no field of a picture", name)
		}
	}
	if form.AddPicture(values, pictureFields, "name", "new") {
		t.Error("a picture was added to another field")
	}
	want := url.Values{"logo": {"new"}, "page.gallery": {"a", "new"}}
	if diff := cmp.Diff(want, values); diff != "" {
		t.Error(diff)
	}
}

func TestWriteKeepsOrRemovesPictures(t *testing.T) {
	t.Parallel()
	before := func() document.Fields {
		return document.Fields{"logo": "x", "page": document.Fields{"gallery": []any{"a", "b"}}}
	}
	for name, c := range map[string]struct {
		posted url.Values
		want   document.Fields
	}{
		"without inputs": {url.Values{"name": {"A"}}, before()},
		"unchanged":      {url.Values{"logo": {"x"}, "page.gallery": {"a", "b", ""}}, before()},
		"other order": {url.Values{"logo": {"x"}, "page.gallery": {"b", "a", ""}},
			document.Fields{"logo": "x", "page": document.Fields{"gallery": []any{"b", "a"}}}},
		"all removed": {url.Values{"logo": {""}, "page.gallery": {""}}, document.Fields{}},
	} {
		got := before()
		form.Write(got, pictureFields, form.Show(got, pictureFields), c.posted)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
