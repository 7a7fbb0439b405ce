package document_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
)

const studio = `# What the studio offers.
apiVersion: slotmesh/v1
kind: Business
slug: studio
name: Studio   # as on the door
currency: EUR
timezone: Europe/Lisbon
default_language: en
languages: [en, pt]
account:
  removal_on: null   # none planned
bookings: {min_notice_minutes: 60, advance_days: 90}

hours:
  mon: ["09:00-13:00", "14:00-18:00"]

staff:
  # who has been here longest comes first
  - key: anna
    name: Anna
    overrides: [{date: 2026-12-02, hours: ["12:00-15:00"]}]
  - {key: ben, name: Ben}   # on loan

services:
  # hair
  - key: cut
    name: Haircut
    description_html: |
      # no comment
      <p>Wash, cut</p>
    duration_minutes: 45
    price: 40.00    # raised in May
    staff: [anna, ben]

  # everything else
  - key: sauna
    name: Sauna
    duration_minutes: 60
    order: 0
    translations:
      pt: {name: "Sauna"}
# the end
`

func mustRead(t testing.TB, text string) (*document.Document, document.Fields) {
	t.Helper()
	d, problems, err := document.Read([]byte(text))
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	fields, err := d.Fields()
	if err != nil {
		t.Fatal(err)
	}
	return d, fields
}

// TestReadAndWriteStopOnRequest shows that reading and writing end at any call of the stop function that
// returns true. They then return ErrStopped and no document.
func TestReadAndWriteStopOnRequest(t *testing.T) {
	t.Parallel()
	d, fields := mustRead(t, studio)
	fields["name"] = "Atelier"
	for after := 0; ; after++ {
		requestCount := 0
		changed, problems, err := d.WithFieldsUntil(fields, func() bool { requestCount++; return requestCount > after })
		if err == nil && requestCount <= after { // the stop function never returned true
			if after < 3 || changed == nil || !strings.Contains(string(changed.Text), "\nname: Atelier") {
				t.Errorf("after it asked %d times: %v", requestCount, problems)
			}
			break
		}
		if changed != nil || !errors.Is(err, manifest.ErrStopped) {
			t.Fatalf("stopped after %d questions: %v, %v", after, problems, err)
		}
	}
	if d, problems, err := document.ReadUntil([]byte(studio), func() bool { return true }); d != nil ||
		problems != nil || !errors.Is(err, manifest.ErrStopped) {
		t.Errorf("read: %v, %v", problems, err)
	}
}

// TestWithFieldsRewritesOnlyChangedLines shows that a change of a field changes only the lines of that field.
func TestWithFieldsRewritesOnlyChangedLines(t *testing.T) {
	t.Parallel()
	item := func(fields document.Fields, list, key string) document.Fields {
		found, ok := document.Find(fields, list, key)
		if !ok {
			t.Fatal(list, key)
		}
		return found
	}
	for name, c := range map[string]struct {
		change  func(document.Fields)
		replace []string
	}{
		"a price": {
			func(f document.Fields) { item(f, "services", "cut")["price"] = json.Number("45.5") },
			[]string{"price: 40.00    # raised", "price: 45.5 # raised"},
		},
		"a name": {func(f document.Fields) {
			f["name"] = "The Studio"
		}, []string{"name: Studio   #", "name: The Studio #"}},
		"a new field": {
			func(f document.Fields) { item(f, "staff", "ben")["category"] = "Stylist" },
			[]string{"name: Ben}   #", "name: Ben, category: Stylist} #"},
		},
		"a new object": {
			func(f document.Fields) {
				f["services"] = append(f["services"].([]any), document.Fields{"name": "Yoga", "key": "yoga",
					"duration_minutes": json.Number("60")})
			},
			[]string{"pt: {name: \"Sauna\"}\n",
				"pt: {name: \"Sauna\"}\n  - key: yoga\n    name: Yoga\n    duration_minutes: 60\n"},
		},
		"a new list": {
			func(f document.Fields) { f["privacy"] = document.Fields{"keep_customers_days": json.Number("30")} },
			[]string{"# the end\n", "# the end\nprivacy:\n  keep_customers_days: 30\n"},
		},
		"a removed object with its comment": {
			func(f document.Fields) { f["services"] = f["services"].([]any)[:1] },
			[]string{"\n  # everything else\n  - key: sauna\n    name: Sauna\n    duration_minutes: 60\n    order: 0\n    translations:\n      pt: {name: \"Sauna\"}\n", "\n"},
		},
		"a date": {
			func(f document.Fields) {
				anna := item(f, "staff", "anna")
				anna["overrides"] = append(anna["overrides"].([]any),
					document.Fields{"date": "2026-12-24", "hours": []any{}})
			},
			[]string{"hours: [\"12:00-15:00\"]}]", "hours: [\"12:00-15:00\"]}, {date: \"2026-12-24\", hours: []}]"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, fields := mustRead(t, studio)
			c.change(fields)
			changed, problems, err := d.WithFields(fields)
			if err != nil || len(problems) > 0 {
				t.Fatal(err, problems)
			}
			if diff := cmp.Diff(strings.NewReplacer(c.replace...).Replace(studio), string(changed.Text)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestWithFieldsTextHasWantedContent shows that the written text, read again, has exactly the changed fields. It
// includes texts that cannot be changed line by line.
func TestWithFieldsTextHasWantedContent(t *testing.T) {
	t.Parallel()
	texts := []string{
		studio, strings.Replace(studio, "- {key: ben",
			"- &ben\n    key: carl\n    name: Carl\n  - <<: *ben\n    key: ben\n    image_url: ''\n  - {key: dora", 1),
		strings.ReplaceAll(studio, "\n  ", "\n    "), strings.Replace(studio, "[anna, ben]", "&all [anna, ben]", 1) +
			"blocks: [{from: 2026-12-01T12:00, to: 2026-12-01T14:00, staff: *all}]\n",
	}
	_, fields := mustRead(t, studio)
	bare, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	texts = append(texts, string(bare))
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.SampledFrom(texts).Draw(r, "text")
		d, fields := mustRead(t, text)
		for range rapid.IntRange(1, 4).Draw(r, "changes") {
			changeFields(r, fields)
		}
		changed, problems, err := d.WithFields(fields)
		if err != nil || len(problems) > 0 {
			r.Fatal(err, problems)
		}
		_, got := mustRead(t, string(changed.Text))
		if !document.Equal(got, normalize(t, fields)) {
			r.Fatalf("the text says something else:\n%s\n%s", changed.Text, cmp.Diff(normalize(t, fields), got))
		}
		if strings.Contains(text, "# the end") && !strings.ContainsAny(text, "&") &&
			!strings.Contains(string(changed.Text), "# the end") {
			r.Fatalf("a comment is lost:\n%s", changed.Text)
		}
	})
}

// normalize returns the fields as they are after they are written and read again.
func normalize(t testing.TB, fields document.Fields) document.Fields {
	t.Helper()
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	_, all := mustRead(t, string(text))
	return all
}

// changeFields makes one random change of a kind that the forms make.
func changeFields(r *rapid.T, fields document.Fields) {
	services, _ := fields["services"].([]any)
	switch what := rapid.IntRange(0, 6).Draw(r, "change"); {
	case what == 0:
		fields["name"] = rapid.SampledFrom([]string{"Studio", "true", "# x", "a: b", "  x", "12", "ä\"'", "-"}).Draw(r,
			"name")
	case what == 1:
		key := fmt.Sprintf("new-%d", rapid.IntRange(0, 3).Draw(r, "key"))
		if _, exists := document.Find(fields, "services", key); !exists {
			fields["services"] = append(services,
				document.Fields{"key": key, "name": "New", "duration_minutes": json.Number("30")})
		}
	case what == 2 && len(services) > 0:
		i := rapid.IntRange(0, len(services)-1).Draw(r, "which")
		fields["services"] = slices.Delete(slices.Clone(services), i, i+1)
	case what == 3 && len(services) > 0:
		s := rapid.SampledFrom(services).Draw(r, "service").(document.Fields)
		s["price"] = json.Number(rapid.SampledFrom([]string{"40", "40.00", "12.50", "0"}).Draw(r, "price"))
	case what == 4 && len(services) > 0:
		s := rapid.SampledFrom(services).Draw(r, "service").(document.Fields)
		s["description_html"] = rapid.SampledFrom([]string{"<p>x</p>", "line\n# line\n\n", "  x"}).Draw(r, "text")
	case what == 5:
		fields["hours"] = document.Fields{rapid.SampledFrom([]string{"mon", "tue"}).Draw(r,
			"day"): []any{"10:00-12:00"}}
	case what == 6:
		delete(fields, rapid.SampledFrom([]string{"hours", "bookings", "account", "privacy"}).Draw(r, "field"))
	}
}

// TestMergeKeepsOrReportsEachChange shows that the merge of two changed versions has each change or lists it as a
// conflict. A merge with the unchanged version has no conflicts.
func TestMergeKeepsOrReportsEachChange(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		_, base := mustRead(t, studio)
		_, mine := mustRead(t, studio)
		_, theirs := mustRead(t, studio)
		for range rapid.IntRange(0, 3).Draw(r, "mine") {
			changeFields(r, mine)
		}
		for range rapid.IntRange(0, 3).Draw(r, "theirs") {
			changeFields(r, theirs)
		}
		mine, theirs = normalize(t, mine), normalize(t, theirs)
		never := func(string) bool { return false }
		alone, conflicts := document.Merge(base, mine, base, never)
		if len(conflicts) > 0 || !document.Equal(alone, mine) {
			r.Fatalf("alone: %v %s", conflicts, cmp.Diff(mine, alone))
		}
		merged, conflicts := document.Merge(base, mine, theirs, never)
		other, conflicts2 := document.Merge(base, theirs, mine, never)
		if len(conflicts) != len(conflicts2) {
			r.Fatalf("%d conflicts, and %d the other way round", len(conflicts), len(conflicts2))
		}
		listed := map[string]bool{}
		for _, c := range conflicts {
			listed[c.Path()] = true
		}
		checkMergedFields(r, nil, base, mine, merged, listed)
		checkMergedFields(r, nil, base, theirs, other, listed)
		if len(conflicts) == 0 {
			checkMergedFields(r, nil, base, theirs, merged, listed)
		}
	})
}

// checkMergedFields fails if a changed field has another value in `merged` than in `fields` and is not listed as a
// conflict.
func checkMergedFields(r *rapid.T, at []string, base, fields, merged document.Fields, listed map[string]bool) {
	names := maps.Clone(base)
	maps.Copy(names, fields)
	for name := range names {
		here := append(slices.Clone(at), name)
		before, was := base[name]
		after, is := fields[name]
		got, has := merged[name]
		if was == is && document.Equal(before, after) || listed[strings.Join(here, ".")] {
			continue
		}
		if checkMergedValue(r, here, before, after, got, listed) {
			continue
		}
		if is != has || !document.Equal(after, got) {
			r.Fatalf("%v is %v, want %v", here, got, after)
		}
	}
}

// checkMergedValue calls [seen] for the members of an object or the items of a list of named objects. It returns false
// for other values.
func checkMergedValue(r *rapid.T, at []string, before, after, got any, listed map[string]bool) bool {
	old, ok := before.(document.Fields)
	fields, ok2 := after.(document.Fields)
	merged, ok3 := got.(document.Fields)
	if ok && ok2 && ok3 {
		checkMergedFields(r, at, old, fields, merged, listed)
		return true
	}
	list, _ := before.([]any)
	added, _ := after.([]any)
	if len(list)+len(added) == 0 {
		return false
	}
	if _, isNamed := document.NameOf(slices.Concat(list, added)[0]); !isNamed {
		return false
	}
	checkMergedFields(r, at, indexItems(before), indexItems(after), indexItems(got), listed)
	return true
}

func indexItems(value any) document.Fields {
	all := document.Fields{}
	list, _ := value.([]any)
	for _, item := range list {
		name, _ := document.NameOf(item)
		all["["+name+"]"] = item
	}
	return all
}
