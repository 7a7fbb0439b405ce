package locale_test

import (
	"testing"

	"github.com/slotmesh/slotmesh/libs/values/locale"
)

func TestRegionOfZone(t *testing.T) {
	t.Parallel()
	for zone, want := range map[string]string{
		"Europe/London": "GB", "Europe/Lisbon": "PT", "America/New_York": "US", "America/Indiana/Knox": "US",
		"Asia/Kolkata": "IN",
		"UTC":          "", "Etc/GMT+5": "", "": "",
	} {
		if got := locale.RegionOf(zone); got != want {
			t.Errorf("%q: %q, want %q", zone, got, want)
		}
	}
}
