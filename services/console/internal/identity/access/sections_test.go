package access

import (
	"reflect"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
)

// TestSectionsCoverEachManifestFieldOnce shows that each field of the manifest belongs to exactly one section,
// and that each row of the table names a field.
func TestSectionsCoverEachManifestFieldOnce(t *testing.T) {
	t.Parallel()
	rows := map[string]int{}
	for _, path := range Sections() {
		rows[path]++
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[manifest.Manifest]()) {
		name := jsonName(field)
		within := 0
		for _, path := range Sections() {
			if strings.HasPrefix(path, name+".") {
				within++
			}
		}
		if within == 0 {
			checkRowOf(t, rows, name)
			continue
		}
		if rows[name] != 0 {
			t.Errorf("%s has its own row and also rows for its fields", name)
		}
		for _, inner := range reflect.VisibleFields(field.Type.Elem()) {
			checkRowOf(t, rows, name+"."+jsonName(inner))
		}
	}
	for path := range rows {
		t.Errorf("the section %s names no field of the manifest", path)
	}
}

func checkRowOf(t *testing.T, rows map[string]int, path string) {
	t.Helper()
	if rows[path] != 1 {
		t.Errorf("%s has %d rows in the table of sections, want 1", path, rows[path])
	}
	if ActionForField(path) == "" {
		t.Errorf("changing %s takes no action", path)
	}
	delete(rows, path)
}

func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

func TestActionForFieldFindsSection(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]Action{
		"privacy":                     Erase,
		"privacy.keep_customers_days": Erase,
		"payments.modes.services":     EditOffer,
		"payments.accounts.stripe":    Integrate,
		"page.embed_origins[0]":       Integrate,
		"page.accent":                 EditOffer,
		"privacyx":                    "",
		"unknown":                     "",
	} {
		if got := ActionForField(path); got != want {
			t.Errorf("ActionOn(%q) = %q, want %q", path, got, want)
		}
	}
}
