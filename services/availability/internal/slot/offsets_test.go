package slot

import (
	"math/rand/v2"
	"testing"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/libs/values/zone"
)

// Both conversions follow semantics.md §1, so that they agree on every local time: repeated, skipped or ordinary.
func TestUTCOffsetsConvertLikeInstant(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{
		"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "America/Sao_Paulo",
		"Asia/Kathmandu", "Pacific/Apia", "Asia/Beirut", "America/Santiago",
	} {
		loc, err := zone.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			first := timespan.Date(10_000 + random.IntN(15_000)) // 1997 to 2038
			z := newUTCOffsets(loc, int64(first-2)*day, int64(first+402)*day)
			for range 200 {
				d, m := first+timespan.Date(random.IntN(400)), timespan.TimeOfDay(random.IntN(timespan.MinutesPerDay))
				if got, want := z.toInstant(d, m), timespan.Instant(d, m, loc); got != want {
					t.Fatalf("%s, %v %v: toInstant gives %d, timespan.Instant gives %d", name, d, m, got, want)
				}
			}
		}
	}
}
