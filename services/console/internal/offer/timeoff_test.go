package offer

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// TestSetDaysWritesOverrides shows that a day off replaces other hours of that day. When a member works again,
// only days off are removed; other hours stay.
func TestSetDaysWritesOverrides(t *testing.T) {
	t.Parallel()
	day := func(date string, hours ...any) document.Fields {
		return document.Fields{"date": date, "hours": append([]any{}, hours...)}
	}
	first := timespan.NewDate(2027, 3, 2)
	for name, c := range map[string]struct {
		before []any
		off    bool
		want   any
	}{
		"the first": {nil, true, []any{day("2027-03-02"), day("2027-03-03")}},
		"over other hours": {[]any{day("2027-03-03", "09:00-10:00"), day("2027-03-04")}, true,
			[]any{day("2027-03-04"), day("2027-03-02"), day("2027-03-03")}},
		"work again": {[]any{day("2027-03-02"), day("2027-03-03", "09:00-10:00")}, false,
			[]any{day("2027-03-03", "09:00-10:00")}},
		"the last": {[]any{day("2027-03-02")}, false, nil},
	} {
		member := document.Fields{"key": "ana", "name": "Ana"}
		if c.before != nil {
			member["overrides"] = c.before
		}
		fields := document.Fields{"staff": []any{document.Fields{"key": "ben"}, member}}
		if err := setDays(fields, "ana", first, first+1, c.off); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, member["overrides"]); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if err := setDays(document.Fields{}, "ana", first, first, true); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown member: %v", err)
	}
}

func TestSetBlockWritesBlockOfMember(t *testing.T) {
	t.Parallel()
	from := timespan.LocalDateTime{Date: timespan.NewDate(2027, 3, 2), Time: 14 * 60}
	to := timespan.LocalDateTime{Date: from.Date, Time: 16 * 60}
	block := func(staff ...any) document.Fields {
		return document.Fields{"from": "2027-03-02T14:00", "to": "2027-03-02T16:00", "staff": staff}
	}
	shared := block("ana", "ben")
	fields := document.Fields{"blocks": []any{shared}}
	for range 2 { // the second call adds nothing
		setBlock(fields, "ana", from, to, true)
	}
	if diff := cmp.Diff([]any{shared, block("ana")}, fields["blocks"]); diff != "" {
		t.Error(diff)
	}
	setBlock(fields, "ana", from, to, false)
	if diff := cmp.Diff([]any{shared}, fields["blocks"]); diff != "" {
		t.Errorf("a block of several members is also removed: %s", diff)
	}
	fields = document.Fields{"blocks": []any{block("ana")}}
	setBlock(fields, "ana", from, to, false)
	if _, isRemaining := fields["blocks"]; isRemaining {
		t.Errorf("an empty list is left: %v", fields)
	}
}

func TestAbsenceCheckRejectsInvalidPeriods(t *testing.T) {
	t.Parallel()
	today := timespan.NewDate(2027, 3, 2)
	at := func(day timespan.Date, hour timespan.TimeOfDay) timespan.LocalDateTime {
		return timespan.LocalDateTime{Date: day, Time: hour * 60}
	}
	for name, c := range map[string]struct {
		away Absence
		fine bool
	}{
		"one day":           {Absence{at(today, 0), at(today, 0), true}, true},
		"the longest":       {Absence{at(today, 0), at(today+MaxTimeOff-1, 0), true}, true},
		"a day too long":    {Absence{at(today, 0), at(today+MaxTimeOff, 0), true}, false},
		"yesterday":         {Absence{at(today-1, 0), at(today, 0), true}, false},
		"backwards":         {Absence{at(today+1, 0), at(today, 0), true}, false},
		"two hours":         {Absence{at(today, 14), at(today, 16), false}, true},
		"over night":        {Absence{at(today, 22), at(today+1, 6), false}, true},
		"no time":           {Absence{at(today, 14), at(today, 14), false}, false},
		"hours backwards":   {Absence{at(today, 16), at(today, 14), false}, false},
		"hours of the past": {Absence{at(today-1, 14), at(today-1, 16), false}, false},
	} {
		if err := c.away.Check(today); (err == nil) != c.fine {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadTimeOffListsOwnFutureTimeOff(t *testing.T) {
	t.Parallel()
	ana, ben := uuid.New(), uuid.New()
	today := timespan.NewDate(2027, 3, 2)
	block := func(day timespan.Date, from, to timespan.TimeOfDay, staff ...uuid.UUID) catalog.Block {
		return catalog.Block{
			From: timespan.LocalDateTime{
				Date: day,
				Time: from * 60,
			}, To: timespan.LocalDateTime{Date: day, Time: to * 60}, StaffIDs: staff,
		}
	}
	later, running := block(today+1, 9, 10, ana), block(today, 10, 13, ana)
	business := &catalog.Snapshot{
		ID: uuid.New(), Timezone: "Europe/Lisbon", Currency: "EUR",
		Staff: []catalog.Staff{{ID: ana, Key: "ana", Overrides: []catalog.DayOverride{
			{
				Date: today + 3,
			}, {Date: today + 2, Hours: []timespan.Window{{From: 600, To: 660}}}, {Date: today - 1}, {Date: today},
		}}, {ID: ben, Key: "ben"}},
		Blocks: []catalog.Block{
			later, block(today, 9, 12, ana), block(today, 13, 14, ben), block(today, 13, 14, ana, ben),
			block(today, 13, 14), running,
		},
	}
	if err := business.Prepare(); err != nil {
		t.Fatal(err)
	}
	noon := time.Date(2027, 3, 2, 12, 0, 0, 0, business.Location())
	o := &UseCases{Peers: &peers.Peers{Clock: clock.Fixed(noon)}}
	self := peers.Principal{IsOperator: true}
	got, err := o.ReadTimeOff(self, business, ana)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]timespan.Date{today, today + 3}, got.Days); diff != "" {
		t.Errorf("days: %s", diff)
	}
	if diff := cmp.Diff([]catalog.Block{running, later}, got.Hours); diff != "" {
		t.Errorf("hours: %s", diff)
	}
	if _, err := o.ReadTimeOff(self, business, uuid.New()); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown member: %v", err)
	}
}
