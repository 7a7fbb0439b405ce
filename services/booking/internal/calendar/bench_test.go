package calendar_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/services/booking/internal/calendar"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// newEntries returns ten thousand bookings, the most that a feed shows.
func newEntries() []store.FeedEntry {
	begin := time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)
	member := "Maria João"
	entries := make([]store.FeedEntry, 10_000)
	for i := range entries {
		start := begin.Add(time.Duration(i) * 15 * time.Minute)
		entries[i] = store.FeedEntry{
			ID: uuid.New(), Status: state.Confirmed, StartsAt: start, EndsAt: start.Add(45 * time.Minute),
			StaffName: &member,
			Services:  []store.SoldService{{Name: "Cut and beard", VariantName: "long"}}, PartySize: 1 + i%2,
			CustomerName: fmt.Sprintf("Zoë Customer %d", i), Sequence: 1 + i%3, UpdatedAt: begin,
		}
	}
	return entries
}

var benchFeed = calendar.Feed{Name: "Harbor Studio", ShowsNames: true, Refresh: time.Minute}

func BenchmarkFeedOfTenThousandBookings(b *testing.B) {
	entries := newEntries()
	b.ReportAllocs()
	for b.Loop() {
		text, err := calendar.Render(benchFeed, entries)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(text)))
	}
}

// BenchmarkBareFeed writes the same properties of the same bookings without checks and without folding lines. Compare
// it with BenchmarkFeedOfTenThousandBookings.
func BenchmarkBareFeed(b *testing.B) {
	const stamp = "20060102T150405Z"
	entries := newEntries()
	b.ReportAllocs()
	for b.Loop() {
		var text bytes.Buffer
		for _, e := range entries {
			_, _ = fmt.Fprintf(&text, "BEGIN:VEVENT\r\nUID:%s\r\nSEQUENCE:%d\r\nDTSTAMP:%s\r\nLAST-MODIFIED:%s\r\nDTSTART:%s\r\nDTEND:%s\r\nSTATUS:CONFIRMED\r\n"+
				"SUMMARY:%s (%s) · %s (%d)\r\nDESCRIPTION:%s\r\nEND:VEVENT\r\n", e.ID, e.Sequence,
				e.UpdatedAt.Format(stamp), e.UpdatedAt.Format(stamp),
				e.StartsAt.Format(stamp), e.EndsAt.Format(stamp), e.Services[0].Name, e.Services[0].VariantName,
				e.CustomerName, e.PartySize, *e.StaffName)
		}
		b.SetBytes(int64(text.Len()))
	}
}
