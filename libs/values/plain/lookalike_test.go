package plain_test

import (
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/plain"
)

func TestCheckNamesRefusesOnlyLookalikesOfKnownNames(t *testing.T) {
	t.Parallel()
	known := []string{"staff_id", "rentalId", "date"}
	for name, want := range map[string]string{
		"staffId": "staff_id", "staffid": "staff_id", "STAFF_ID": "staff_id", "staff-id": "staff_id",
		"_staff_id": "staff_id",
		"rental_id": "rentalId", "RentalID": "rentalId", "Date": "date",
		"staff_id": "", "rentalId": "", "date": "", "staff": "", "dates": "", "utm_source": "", "": "", "_": "",
	} {
		err := plain.CheckNames("parameter", []string{"date", name}, known)
		if want == "" {
			if err != nil {
				t.Errorf("%q is refused: %s", name, err)
			}
			continue
		}
		if !fault.Is(err, fault.InvalidParameter) || !strings.HasSuffix(err.Error(), "write "+want+".") {
			t.Errorf("%q: got %v, want a refusal that names %s", name, err, want)
		}
	}
}
