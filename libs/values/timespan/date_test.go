package timespan

import (
	"fmt"
	"testing"
	"time"
)

func TestInstantFollowsClockChanges(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ local, want string }{
		{"2027-03-28T01:59", "2027-03-28T00:59:00Z"},
		{"2027-03-28T02:00", "2027-03-28T01:00:00Z"}, // skipped: the end of the gap counts
		{"2027-03-28T02:30", "2027-03-28T01:00:00Z"},
		{"2027-03-28T03:00", "2027-03-28T01:00:00Z"},
		{"2027-10-31T02:30", "2027-10-31T00:30:00Z"}, // occurs twice: the first one counts
		{"2027-10-31T03:00", "2027-10-31T02:00:00Z"},
		{"2027-07-01T12:00", "2027-07-01T10:00:00Z"},
	} {
		l, err := ParseLocalDateTime(c.local)
		if err != nil {
			t.Fatal(err)
		}
		if got := time.Unix(Instant(l.Date, l.Time, berlin), 0).UTC().Format(time.RFC3339); got != c.want {
			t.Errorf("%s: got %s, want %s", c.local, got, c.want)
		}
	}
}

func TestParsersRejectNonexistentValues(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"2027-02-29", "2026-13-01", "0000-01-01", "0000-12-31", "2026-1-01", "", "2026-01-01x",
		"20260101"} {
		if d, err := ParseDate(s); err == nil {
			t.Errorf("date %q was read as %s", s, d)
		}
	}
	for _, s := range []string{"9:00", "24:01", "12:60", "ab:cd", "-1:00", "+1:00", "12-00"} {
		if v, err := ParseTimeOfDay(s); err == nil {
			t.Errorf("time %q was read as %s", s, v)
		}
	}
	for _, s := range []string{"09:00-09:00", "24:00-25:00", "09:00", "9-17", "24:00-02:00"} {
		if w, err := ParseWindow(s); err == nil {
			t.Errorf("window %q was read as %s", s, w)
		}
	}
}

func TestParsersAgreeWithPackageTime(t *testing.T) {
	t.Parallel()
	for _, year := range []int{0, 1, 1900, 1999, 2000, 2027, 2028, 9999} {
		for month := range 14 {
			for day := range 33 {
				text := fmt.Sprintf("%04d-%02d-%02d", year, month, day)
				want, err := time.Parse(time.DateOnly, text)
				isDate := err == nil && year > 0
				var read Date
				if got := read.UnmarshalText([]byte(text)) == nil; got != isDate {
					t.Errorf("%s: read %t, want %t", text, got, isDate)
				} else if back, _ := read.MarshalText(); isDate && (string(back) != text || DateOf(want, time.UTC) != read) {
					t.Errorf("%s was read as %s", text, read)
				}
			}
		}
	}
	for hour := range 26 {
		for minute := range 62 {
			text := fmt.Sprintf("%02d:%02d", hour, minute)
			_, err := time.Parse("15:04", text)
			isTime := err == nil || text == "24:00"
			var read TimeOfDay
			if got := read.UnmarshalText([]byte(text)) == nil; got != isTime {
				t.Errorf("%s: read %t, want %t", text, got, isTime)
			} else if isTime && (int(read) != hour*60+minute || read.String() != text) {
				t.Errorf("%s was read as %s", text, read)
			}
		}
	}
}

func TestDateArithmetic(t *testing.T) {
	t.Parallel()
	d, err := ParseDate("2028-02-28")
	if err != nil {
		t.Fatal(err)
	}
	if got := (d + 1).String(); got != "2028-02-29" {
		t.Errorf("the day after 2028-02-28 is %s", got)
	}
	if d.Weekday() != time.Monday {
		t.Errorf("2028-02-28 is a Monday, not a %s", d.Weekday())
	}
	if w := Date(-1).Weekday(); w != time.Wednesday {
		t.Errorf("1969-12-31 is a Wednesday, not a %s", w)
	}
}
