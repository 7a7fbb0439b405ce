package report_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/values/report"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

func TestStartBeginsPeriodOfDate(t *testing.T) {
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

func TestPeriodsCoverEveryDate(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		from := timespan.NewDate(2026, time.December, 1) + timespan.Date(rapid.IntRange(0, 800).Draw(t, "from"))
		q := report.Query{From: from, To: from + timespan.Date(rapid.IntRange(0, report.MaxDays-1).Draw(t, "days")),
			By: rapid.SampledFrom([]report.By{report.Day, report.Week, report.Month}).Draw(t, "by")}
		var want []timespan.Date
		for d := q.From; d <= q.To; d++ {
			if start := q.By.Start(d); len(want) == 0 || want[len(want)-1] != start {
				want = append(want, start)
			}
		}
		if got := q.Periods(); !slices.Equal(got, want) {
			t.Errorf("%+v has the stretches %v, want %v", q, got, want)
		}
	})
}
