package api_test

import (
	"net/http"
	"os"
	"strings"
	"testing"
)

// TestBookWithoutLocationsKeepsBytes shows that POST /book of a business without locations answers, byte for byte, as
// before a manifest could have locations (interface.md). The test replaces the id and the link of the booking.
func TestBookWithoutLocationsKeepsBytes(t *testing.T) {
	t.Parallel()
	w := open(t, noLimits)
	a := w.book(w.key("write"), newOrder("09:30", map[string]any{"party_size": 2, "source": "widget"}))
	got := strings.NewReplacer(a.body.Booking.ID.String(), "ID", tokenOf(a.body.ManageURL), "TOKEN").Replace(a.text)
	want, err := os.ReadFile("testdata/book.json")
	if err != nil || a.status != http.StatusCreated || got+"\n" != string(want) {
		t.Errorf("%v, %d: got\n%s\nwant\n%s", err, a.status, got, want)
	}
}
