package catalog_test

import (
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

func TestLegalURLTakesOneWordWithHTTPS(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://a.example/imprint":    "https://a.example/imprint",
		"  https://a.example/imprint ": "https://a.example/imprint",
		"See https://a.example":        "",
		"https://a.example is ours":    "",
		"http://a.example":             "",
		"javascript:alert(1)":          "",
		"Ana Lopes, Lisboa":            "",
		"":                             "",
	} {
		if got := catalog.LegalURL(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestPhoneComesFromPlace(t *testing.T) {
	t.Parallel()
	o := &catalog.Snapshot{Contact: catalog.Contact{Phone: "112"}}
	if o.Place() != nil || o.Phone() != "112" {
		t.Errorf("without a place: %v, %s", o.Place(), o.Phone())
	}
	o.Locations = []catalog.Location{{Kind: "link"}, {Kind: catalog.KindPlace, Key: "quay", Phone: "911"}}
	if p := o.Place(); p == nil || p.Key != "quay" || o.Phone() != "911" {
		t.Errorf("with a place: %v, %s", p, o.Phone())
	}
}
