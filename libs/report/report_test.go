package report_test

import (
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/report"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

func TestEachDateLiesInTheStretchThatBeginsAtItsStart(t *testing.T) {
	t.Parallel()
	for d := timespan.NewDate(2026, time.December, 1); d < timespan.NewDate(2028, time.April, 1); d++ {
		week, month := report.Week.Start(d), report.Month.Start(d)
		if week.Weekday() != time.Monday || d < week || d > week+6 {
			t.Errorf("the week of %s begins on %s", d, week)
		}
		_, of, first := month.YMD()
		if _, is, _ := d.YMD(); first != 1 || of != is {
			t.Errorf("the month of %s begins on %s", d, month)
		}
		if report.Day.Start(d) != d {
			t.Errorf("the day of %s is %s", d, report.Day.Start(d))
		}
	}
}

func TestAQueryIsReadBackAsItWasWritten(t *testing.T) {
	t.Parallel()
	read := func(values map[string][]string) (report.Query, error) {
		return report.Read(func(name string) []string { return values[name] })
	}
	q, err := read(map[string][]string{"from": {"2027-01-01"}, "to": {"2027-12-31"}})
	if err != nil || q.By != report.Week {
		t.Fatalf("%+v, %v", q, err)
	}
	if again, err := read(q.Values()); err != nil || again != q {
		t.Errorf("%+v becomes %+v, %v", q, again, err)
	}
	for _, wrong := range []map[string][]string{
		{"from": {"2027-01-01"}}, {"from": {"2027-01-02"}, "to": {"2027-01-01"}},
		{"from": {"2027-01-01"}, "to": {"2030-01-01"}, "by": {"day"}}, {"from": {"2027-01-01"}, "to": {"2027-01-01"}, "by": {"year"}},
	} {
		if _, err := read(wrong); err == nil {
			t.Errorf("%v is taken", wrong)
		}
	}
}
