package e2e

import (
	"net/http"
	"testing"
)

// TestInitManifestsAreBookable publishes each manifest that `slotmesh init` prints, and checks that every service has a
// free start within two weeks.
func TestInitManifestsAreBookable(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	o := w.newOperatorCommand(t)
	for _, trade := range []string{"salon", "clinic", "studio", "venue", "rental"} {
		slug := "trade-" + trade
		code, output, faults := o.run(t, "", "init", trade, "--slug", slug)
		if code != 0 || faults != "" {
			t.Fatalf("init %s: exit code %d\n%s", trade, code, faults)
		}
		o.mustRun(t, output, "validate", "-f", "-")
		o.mustRun(t, output, "apply", "-f", "-")
		for name, id := range w.idsByName(t, slug, "services") {
			var calendar struct{ Days map[string]int }
			w.get(t, slug+"/available-dates?start=2027-03-01&end=2027-03-14&service_id="+id).decode(t, http.StatusOK,
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
