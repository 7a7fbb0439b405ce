package changes_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/changes"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/template"
)

func parse(t *testing.T, text string) *manifest.Manifest {
	t.Helper()
	m, problems := manifest.Parse([]byte(text))
	if len(problems) > 0 {
		t.Fatalf("%v\n%s", problems, text)
	}
	return m
}

// compareTexts returns the changes between two manifests, each as a line with the kind of change and the path.
func compareTexts(t *testing.T, before, after string) []string {
	t.Helper()
	list, more, err := changes.Compare(parse(t, before), parse(t, after))
	if err != nil || more > 0 {
		t.Fatal(err, more)
	}
	lines := []string{}
	for _, c := range list {
		lines = append(lines, c.Change+" "+c.Path)
	}
	return lines
}

func TestCompareNamesFieldsByKey(t *testing.T) {
	t.Parallel()
	salon, err := template.RenderManifest("salon", template.Business{Slug: "harbor", Name: "Harbor", Currency: "EUR",
		Timezone: "Europe/Lisbon"})
	if err != nil {
		t.Fatal(err)
	}
	if got := compareTexts(t, salon, salon); len(got) > 0 {
		t.Errorf("nothing differs, but %v", got)
	}
	ben := salon[strings.Index(salon, "  - key: ben"):strings.Index(salon, "\nservices:")]
	for _, c := range []struct {
		edit func(string) string
		want []string
	}{
		{replace("price: 40.00", "price: 45.00"), []string{"changed services[cut].price"}},
		{replace("category: Hair\n", "category: Hair\n    capacity: 3\n"), []string{"added services[cut].capacity"}},
		{replace("buffer_after_minutes: 10         # kept free, to clean up\n    ", ""),
			[]string{"removed services[cut].buffer_after_minutes"}},
		{replace(`sat: ["09:00-14:00"]`, `sat: ["09:00-13:00"]`), []string{"changed hours.sat"}},
		{replace(`  sat: ["09:00-14:00"]`+"\n", ""), []string{"removed hours.sat"}},
		{func(s string) string {
			return strings.ReplaceAll(strings.Replace(s, ben, "", 1), "[anna, ben]", "[anna]")
		}, []string{"changed services[cut].staff", "removed staff[ben]"}},
		{replace("{key: long, name: Long hair, duration", "{key: very-long, name: Long hair, duration"),
			[]string{"removed services[cut].variants[long]", "added services[cut].variants[very-long]"}},
		{replace("services:\n", "services:\n  - {key: wash, name: Wash, duration_minutes: 10}\n"),
			[]string{"added services[wash]"}},
	} {
		edited := c.edit(salon)
		if got := compareTexts(t, salon, edited); !slices.Equal(got, c.want) {
			t.Errorf("(-want +got):\n%s", cmp.Diff(c.want, got))
		}
		if back := compareTexts(t, edited, salon); len(back) != len(c.want) {
			t.Errorf("the other way round: %v, not as many as %v", back, c.want)
		}
	}
}

func replace(old, wanted string) func(string) string {
	return func(s string) string { return strings.Replace(s, old, wanted, 1) }
}

func TestCompareReportsOrderAndLimitsChanges(t *testing.T) {
	t.Parallel()
	list := func(keys ...string) *manifest.Manifest {
		text := "apiVersion: slotmesh/v1\nkind: Business\nslug: a\nname: A\ncurrency: EUR\ntimezone: UTC\ndefault_language: en\nservices:\n"
		for _, key := range keys {
			text += "  - {key: " + key + ", name: A, duration_minutes: 5}\n"
		}
		return parse(t, text)
	}
	got, more, err := changes.Compare(list("a", "b", "c"), list("c", "a", "d"))
	want := []changes.Change{
		{Path: "services[b]", Change: changes.Removed, Summary: "no longer: A"},
		{Path: "services[d]", Change: changes.Added, Summary: "new: A"},
		{Path: "services", Change: changes.Changed, Before: []string{"a", "c"}, After: []string{"c", "a"},
			Summary: "a, c becomes c, a"},
	}
	for i := range got[:2] {
		got[i].Before, got[i].After = nil, nil
	}
	if err != nil || more > 0 || !cmp.Equal(got, want) {
		t.Errorf("%v (-want +got):\n%s", err, cmp.Diff(want, got))
	}
	var many []string
	for i := range changes.MaxChanges + 5 {
		many = append(many, fmt.Sprint("k", i))
	}
	if got, more, err := changes.Compare(list("a"), list(append(many, "a")...)); err != nil ||
		len(got) != changes.MaxChanges || more != 5 {
		t.Errorf("%d changes and %d more, %v", len(got), more, err)
	}
}
