package tools

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

func TestNearestSlotsCrossMidnight(t *testing.T) {
	t.Parallel()
	date := timespan.NewDate(2027, time.March, 1)
	after := date + 1
	free := []slot{
		{Date: date, Time: 30}, {Date: date, Time: 60}, {Date: date, Time: 12 * 60}, {Date: date, Time: 23 * 60},
		{Date: date, Time: 23*60 + 30}, {Date: after, Time: 30}, {Date: after, Time: 60},
	}
	var got []string
	for _, s := range nearestSlots(free, date, "23:50") {
		got = append(got, s.Date.String()+" "+s.Time.String())
	}
	want := []string{
		"2027-03-01 23:30", "2027-03-02 00:30", "2027-03-01 23:00", "2027-03-02 01:00", "2027-03-01 12:00",
		"2027-03-01 01:00", "2027-03-01 00:30",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
