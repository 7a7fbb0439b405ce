package api

import (
	"os"
	"testing"
)

// TestCalendarsWithoutLocationsKeepBytes shows that the calendars of a business without locations are, byte for byte,
// the answers from before a manifest could have locations (interface.md).
func TestCalendarsWithoutLocationsKeepBytes(t *testing.T) {
	t.Parallel()
	s := startService(t, nil)
	for file, c := range map[string]struct {
		path  string
		query []string
	}{
		"slots.json": {"harbor/slots", []string{"date", "2027-03-05", "service_id", sauna.String()}},
		"slots-of-member.json": {"harbor/slots",
			[]string{"date", monday, "service_id", haircut.String(), "staff_id", ben.String()}},
		"available-dates.json": {"harbor/available-dates",
			[]string{"start", monday, "end", "2027-03-02", "service_id", haircut.String()}},
	} {
		want, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.get(t, c.path, c.query...); got.status != 200 || got.body+"\n" != string(want) {
			t.Errorf("%s: %d, got\n%s\nwant\n%s", file, got.status, got.body, want)
		}
	}
}
