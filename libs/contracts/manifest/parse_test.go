package manifest

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
)

func readExample(t testing.TB) []byte {
	t.Helper()
	inputs.Checkout("charts")
	src, err := os.ReadFile("../../../charts/slotmesh/files/demo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func mustParse(t testing.TB, src []byte) *Manifest {
	t.Helper()
	m, problems := Parse(src)
	for _, p := range problems {
		t.Error(p)
	}
	if m == nil {
		t.FailNow()
	}
	return m
}

func TestExampleRoundTripsThroughJSON(t *testing.T) {
	t.Parallel()
	m := mustParse(t, readExample(t))
	asJSON, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, mustParse(t, asJSON)); diff != "" {
		t.Error(diff)
	}
	var plain Manifest
	if err := json.NewDecoder(bytes.NewReader(asJSON)).Decode(&plain); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, &plain); diff != "" {
		t.Error(diff)
	}
}

// TestSelfServiceDistinguishesNullFromOmitted shows that null means never, for one field and for the whole object. An
// omitted field means the default. The stored JSON keeps this difference.
func TestSelfServiceDistinguishesNullFromOmitted(t *testing.T) {
	t.Parallel()
	hours := func(n int) *int { return &n }
	for _, c := range []struct {
		name, add          string
		cancel, reschedule *int
	}{
		{"left out", "", hours(0), hours(0)},
		{"null", "self_service: null\n", nil, nil},
		{"empty", "self_service: {}\n", hours(0), hours(0)},
		{"parts", "self_service: {cancel_until_hours: 5, reschedule_until_hours: ~}\n", hours(5), nil},
		{"zero", "self_service: {cancel_until_hours: 0, reschedule_until_hours: 12}\n", hours(0), hours(12)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := mustParse(t, []byte(minimal+c.add))
			written, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			var decoded Manifest
			if err := json.Unmarshal(written, &decoded); err != nil {
				t.Fatal(err)
			}
			for form, m := range map[string]*Manifest{"as written": m, "parsed from its JSON": mustParse(t, written),
				"decoded from its JSON": &decoded} {
				if diff := cmp.Diff([]*int{c.cancel, c.reschedule},
					[]*int{m.CancelUntilHours(), m.RescheduleUntilHours()}); diff != "" {
					t.Errorf("%s: %s", form, diff)
				}
			}
		})
	}
}
