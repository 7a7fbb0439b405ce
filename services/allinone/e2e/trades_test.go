package e2e

import (
	"net/http"
	"testing"
)

// TestEveryTradesFirstManifestHasSomethingToBook publishes what `slotmesh init` prints, as it is.
func TestEveryTradesFirstManifestHasSomethingToBook(t *testing.T) {
	t.Parallel()
	w := shared(t)
	o := w.operator(t)
	for _, trade := range []string{"salon", "clinic", "studio", "venue", "rental"} {
		slug := "trade-" + trade
		code, printed, faults := o.run(t, "", "init", trade, "--slug", slug)
		if code != 0 || faults != "" {
			t.Fatalf("init %s: exit code %d\n%s", trade, code, faults)
		}
		o.must(t, printed, "validate", "-f", "-")
		o.must(t, printed, "apply", "-f", "-")
		for name, id := range w.named(t, slug, "services") {
			var calendar struct{ Days map[string]int }
			w.get(t, slug+"/available-dates?start=2027-03-01&end=2027-03-14&service_id="+id).into(t, http.StatusOK,
				&calendar)
			free := 0
			for _, n := range calendar.Days {
				free += n
			}
			if free == 0 {
				t.Errorf("%s of the %s cannot be booked within two weeks", name, trade)
			}
		}
	}
}
