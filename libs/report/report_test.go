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
