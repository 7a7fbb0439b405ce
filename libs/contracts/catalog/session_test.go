package catalog_test

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

func TestHoldsSession(t *testing.T) {
	t.Parallel()
	yoga, evening, anna, other := uuid.New(), uuid.New(), uuid.New(), uuid.New()
	tuesday, friday := time.Tuesday, time.Friday
	date := timespan.NewDate(2027, time.March, 2) // a Tuesday
	at := func(hour int) timespan.LocalDateTime {
		return timespan.LocalDateTime{Date: date, Time: timespan.TimeOfDay(hour * 60)}
	}
	for name, c := range map[string]struct {
		change func(*catalog.Snapshot)
		want   bool
	}{
		"as it was booked":   {func(*catalog.Snapshot) {}, true},
		"without a module":   {func(o *catalog.Snapshot) { o.Modules.Services = false }, false},
		"inactive":           {func(o *catalog.Snapshot) { o.Services[0].Active = false }, false},
		"removed service":    {func(o *catalog.Snapshot) { o.Services = nil }, false},
		"removed session":    {func(o *catalog.Snapshot) { o.Services[0].Classes[0].ID = other }, false},
		"at another time":    {func(o *catalog.Snapshot) { o.Services[0].Classes[0].Time = 19 * 60 }, false},
		"on another weekday": {func(o *catalog.Snapshot) { o.Services[0].Classes[0].Weekday = &friday }, false},
		"ended before": {func(o *catalog.Snapshot) {
			day := date - 1
			o.Services[0].Classes[0].To = &day
		}, false},
		"until then": {func(o *catalog.Snapshot) {
			o.Services[0].Classes[0].From, o.Services[0].Classes[0].To = &date, &date
		}, true},
		"begins later": {func(o *catalog.Snapshot) {
			day := date + 1
			o.Services[0].Classes[0].From = &day
		}, false},
		"once, then": {func(o *catalog.Snapshot) {
			o.Services[0].Classes[0].Weekday, o.Services[0].Classes[0].Date = nil, &date
		}, true},
		"once, on another date": {func(o *catalog.Snapshot) {
			day := date + 7
			o.Services[0].Classes[0].Date = &day
		}, false},
		"closed": {func(o *catalog.Snapshot) { o.Overrides = []catalog.DayOverride{{Date: date}} }, false},
		"other hours": {func(o *catalog.Snapshot) {
			o.Overrides = []catalog.DayOverride{{Date: date, Hours: []timespan.Window{{}}}}
		}, true},
		"blocked":          {func(o *catalog.Snapshot) { o.Blocks = []catalog.Block{{From: at(18), To: at(20)}} }, false},
		"blocked until it": {func(o *catalog.Snapshot) { o.Blocks = []catalog.Block{{From: at(12), To: at(18)}} }, true},
		"its member is off": {func(o *catalog.Snapshot) {
			o.Blocks = []catalog.Block{{From: at(18), To: at(20), StaffIDs: []uuid.UUID{anna}}}
		}, false},
		"another member is off": {func(o *catalog.Snapshot) {
			o.Blocks = []catalog.Block{{From: at(18), To: at(20), StaffIDs: []uuid.UUID{other}}}
		}, true},
		"its member is inactive": {func(o *catalog.Snapshot) { o.Staff[0].Active = false }, false},
		"its member left":        {func(o *catalog.Snapshot) { o.Staff = nil }, false},
		"given by nobody": {func(o *catalog.Snapshot) {
			o.Staff, o.Services[0].Classes[0].StaffID = nil, nil
		}, true},
		"in another zone": {func(o *catalog.Snapshot) { o.Timezone = "America/Chicago" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := &catalog.Snapshot{
				Timezone: "Europe/Lisbon", Currency: "EUR", Modules: catalog.Modules{Services: true},
				Staff: []catalog.Staff{{ID: anna, Active: true}},
				Services: []catalog.Service{{ID: yoga, Active: true, DurationMinutes: 60,
					Classes: []catalog.ClassSession{
						{ID: evening, Weekday: &tuesday, Time: 18 * 60, StaffID: &anna},
					}}},
			}
			c.change(o)
			if err := o.Prepare(); err != nil {
				t.Fatal(err)
			}
			zone := timespan.Zone("Europe/Lisbon", time.UTC)
			start := timespan.Instant(date, 18*60, zone)
			if got := o.HoldsSession(yoga, evening, timespan.Span{Start: start, End: start + 3600},
				zone); got != c.want {
				t.Errorf("the session takes place: %t, want %t", got, c.want)
			}
		})
	}
}
