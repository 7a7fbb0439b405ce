package manifest

import (
	"reflect"
	"strings"
	"testing"
)

const pictured = `apiVersion: slotmesh/v1
kind: Business
slug: shop
name: Shop
currency: EUR
timezone: Europe/Lisbon
default_language: en
logo: 0AAA
page: {cover: 1AAA, gallery: [2AAA, 3AAA]}
staff: [{key: a, name: A}, {key: b, name: B, photo: 4AAA}]
services: [{key: a, name: A, duration_minutes: 5, picture: 5AAA}]
events: [{key: a, name: A, date: 2026-12-31, start_time: "20:00", end_time: "23:00", total_capacity: 1, picture: 6AAA}]
rentals: [{key: a, name: A, price_type: hourly, picture: 7AAA}]
`

func TestPictureUsesFindsEveryField(t *testing.T) {
	t.Parallel()
	source := strings.ReplaceAll(pictured, "AAA", strings.Repeat("a", 63))
	m, problems := Parse([]byte(source))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var paths []string
	for i, use := range m.PictureUses() {
		paths = append(paths, use.Path)
		if use.ID[0] != byte('0'+i) {
			t.Errorf("%s has the id %s", use.Path, use.ID)
		}
	}
	want := []string{"logo", "page.cover", "page.gallery[0]", "page.gallery[1]", "staff[1].photo", "services[0].picture",
		"events[0].picture", "rentals[0].picture"}
	if !reflect.DeepEqual(paths, want) {
		t.Errorf("got %q, want %q", paths, want)
	}
	if fields := countPictures(reflect.TypeFor[Manifest](), map[reflect.Type]bool{}); fields != 7 {
		t.Errorf("the manifest has %d fields with pictures; PictureUses knows 7", fields)
	}
}

// countPictures returns the number of fields of type PictureID in a type and in the types that it contains.
func countPictures(of reflect.Type, seen map[reflect.Type]bool) int {
	switch {
	case of == reflect.TypeFor[PictureID]():
		return 1
	case of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map:
		return countPictures(of.Elem(), seen)
	case of.Kind() != reflect.Struct || seen[of]:
		return 0
	}
	seen[of] = true
	sum := 0
	for i := range of.NumField() {
		sum += countPictures(of.Field(i).Type, seen)
	}
	return sum
}

func TestPictureIDsMustBeHashes(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"cut.png", strings.Repeat("A", 64), strings.Repeat("a", 63), strings.Repeat("a", 65)} {
		source := strings.ReplaceAll(strings.Replace(pictured, "0AAA", bad, 1), "AAA", strings.Repeat("a", 63))
		_, problems := Parse([]byte(source))
		if len(problems) != 1 || problems[0].Path != "logo" ||
			!strings.Contains(problems[0].Message, "is not the id of an uploaded picture") {
			t.Errorf("%q: %v", bad, problems)
		}
	}
	source := strings.ReplaceAll(strings.Replace(pictured, "3AAA", "2AAA", 1), "AAA", strings.Repeat("a", 63))
	if _, problems := Parse([]byte(source)); len(problems) != 1 || problems[0].Path != "page.gallery[1]" {
		t.Errorf("a picture twice in the gallery: %v", problems)
	}
}
