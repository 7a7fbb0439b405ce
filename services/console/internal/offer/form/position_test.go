package form

import (
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
)

func TestPositionIsReadInEveryNotation(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]string{
		"38.7139, -9.1394":               "38.7139, -9.1394",
		"38.7139,-9.1394":                "38.7139, -9.1394",
		"38,7139; -9,1394":               "38.7139, -9.1394",
		"38,7139 -9,1394":                "38.7139, -9.1394",
		"38,7139, -9,1394":               "38.7139, -9.1394",
		"38.7139° −9.1394°":              "38.7139, -9.1394",
		"38.71389200000001, -9.13940001": "38.7138920, -9.1394000",
		"٣٨٫٧١، -٩٫١٣":                   "38.71, -9.13",
		"90 180":                         "90, 180",
		"0, 0":                           "0, 0",
		"91, 0":                          "",
		"0, 180.1":                       "",
		"38.7139":                        "",
		"Lisboa":                         "",
		"38.7.1, 9":                      "",
		"1, 2, 3":                        "",
	} {
		object := document.Fields{}
		fields := []Field{{Name: "geo", Kind: Position}}
		result := Write(object, fields, Show(object, fields), url.Values{"geo": {typed}})
		if got := Show(object, fields).Get("geo"); got != want {
			t.Errorf("%q: %q, want %q", typed, got, want)
		}
		if (result.FieldErrors["geo"] == InvalidPosition) != (want == "") {
			t.Errorf("%q: %v", typed, result.FieldErrors)
		}
	}
}

// TestFieldInListItemIsWritten shows that the path of a field may contain the index of an object in a list, that a
// problem of this field belongs to its input, and that an emptied object is removed.
func TestFieldInListItemIsWritten(t *testing.T) {
	t.Parallel()
	object := document.Fields{"locations": []any{document.Fields{"key": "quay"}}}
	fields := []Field{{Name: "locations.0.address.city"}, {Name: "locations.1.name"}, {Name: "locations.x.name"},
		{Name: "locations.0"}}
	posted := url.Values{"locations.0.address.city": {"Lisboa"}}
	result := Write(object, fields, Show(object, fields), posted)
	want := document.Fields{"locations": []any{document.Fields{"key": "quay",
		"address": document.Fields{"city": "Lisboa"}}}}
	if diff := cmp.Diff(want, object); diff != "" {
		t.Error(diff)
	}
	if got := result.FindInput("locations[0].address.city"); got != "locations.0.address.city" {
		t.Errorf("the input is %q", got)
	}
	Write(object, fields, Show(object, fields), url.Values{"locations.0.address.city": {""}})
	if diff := cmp.Diff(document.Fields{"locations": []any{document.Fields{"key": "quay"}}}, object); diff != "" {
		t.Error(diff)
	}
}
