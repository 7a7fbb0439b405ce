package bench

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestPrintShowsBoundsAndStores(t *testing.T) {
	t.Parallel()
	r := &Report{
		Rows: []Row{
			{Name: slotsName, CPU: Usage{Slotmesh: 330 * time.Microsecond, Postgres: 90 * time.Microsecond,
				Redis: 10 * time.Microsecond}},
			{Name: slotsBare, IsBare: true, CPU: Usage{Bare: 100 * time.Microsecond, Postgres: 80 * time.Microsecond,
				Redis: 20 * time.Microsecond}},
		},
		Grown: []GrowthRow{
			{Size: claimedSize, Row: Row{Name: "first", Resident: 500 << 20}},
			{Size: claimedSize, Row: Row{Name: "second", Resident: 200 << 20}},
			{Size: Size{Businesses: 1, Bookings: 1}, Row: Row{Resident: 900 << 20}},
		},
	}
	r.Claims = listClaims(r)
	var out bytes.Buffer
	if err := r.Print(&out); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{
		"against bare fiber, script and query ≤ 3.0 3.30 not reached",
		"with PostgreSQL's and Redis's on both sides 2.15",
		"1,000 businesses, 1,000,000 bookings: resident, all services together, against 400 MB ≤ 1.0 1.25 not reached",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
