package tools

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOtherStartsComeNearestFirstAlsoPastMidnight(t *testing.T) {
	t.Parallel()
	const date, after = "2027-03-01", "2027-03-02"
	free := []slot{
		{Date: date, Time: "00:30"}, {Date: date, Time: "01:00"}, {Date: date, Time: "12:00"},
		{Date: date, Time: "23:00"},
		{Date: date, Time: "23:30"}, {Date: after, Time: "00:30"}, {Date: after, Time: "01:00"},
	}
	var got []string
	for _, s := range nearest(free, date, "23:50") {
		got = append(got, s.Date+" "+s.Time)
	}
	want := []string{
		"2027-03-01 23:30", "2027-03-02 00:30", "2027-03-01 23:00", "2027-03-02 01:00", "2027-03-01 12:00",
		"2027-03-01 01:00", "2027-03-01 00:30",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
