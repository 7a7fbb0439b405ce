package view

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"
	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/libs/values/rule"
	"github.com/slotmesh/slotmesh/services/pages/internal/texts"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// newPage returns a page in English of a business with the given snapshot, on 1 December 2026 at noon.
func newPage(t *testing.T, snapshot *catalog.Snapshot) *Page {
	t.Helper()
	sentences, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	snapshot.Slug, snapshot.Name, snapshot.Currency, snapshot.Timezone = "harbor", "Harbor", "EUR", "UTC"
	snapshot.DefaultLanguage, snapshot.Languages = "en", []string{"en"}
	if err := snapshot.Prepare(); err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	return &Page{Words: words.In(sentences, "en-GB"), Business: &usecase.Business{Snapshot: snapshot, Now: now}}
}

// TestPolicyTextsShowDates shows that the page lists the dates of a cancellation policy and the deadline of cancelling.
// It omits steps that have passed.
func TestPolicyTextsShowDates(t *testing.T) {
	t.Parallel()
	hours := func(n int) *int { return &n }
	steps := []catalog.CancellationRule{{HoursBefore: 24, RefundPercent: 50}, {HoursBefore: 48, RefundPercent: 100}}
	for _, c := range []struct {
		name   string
		policy []catalog.CancellationRule
		cancel *int
		start  int // hours from now
		total  json.Number
		want   []string // beginning of each line and the day of December in it, separated by |
	}{
		{"both ahead", steps, hours(12), 96, "40.00", []string{"Free cancellation until Thu 3 Dec|12:00",
			"Then 50 % back until Fri 4 Dec|12:00", "No refund after that.", "You can cancel until Sat 5 Dec|"}},
		{"one has passed", steps, hours(12), 36, "40.00", []string{"50 % back until|2", "No refund after that.",
			"You can cancel until|2"}},
		{"all have passed", steps, hours(12), 20, "40.00",
			[]string{"Not refundable once booked.", "You can cancel until|1"}},
		{"too late to cancel", nil, hours(12), 6, "40.00", nil},
		{"customers cannot cancel", nil, nil, 96, "40.00", nil},
		{"free of charge", steps, hours(0), 96, "0.00", []string{"Free cancellation until|5"}},
	} {
		p := newPage(t, &catalog.Snapshot{CancellationPolicy: c.policy,
			SelfService: catalog.SelfService{CancelUntilHours: c.cancel}})
		got := p.policyTexts(&usecase.Price{Total: c.total,
			StartsAt: p.Business.Now.Add(time.Duration(c.start) * time.Hour)})
		fits := len(got) == len(c.want)
		for i := range min(len(got), len(c.want)) {
			begin, day, _ := strings.Cut(c.want[i], "|")
			fits = fits && strings.HasPrefix(got[i], begin) && strings.Contains(got[i], day)
		}
		if !fits {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestCancelPageShowsRefundSteps shows that the customer's page and the page that asks before a cancellation name every
// step of the refund, and the deadline of cancelling if it is later.
func TestCancelPageShowsRefundSteps(t *testing.T) {
	t.Parallel()
	p := newPage(t, &catalog.Snapshot{})
	after := func(days int) time.Time { return p.Business.Now.AddDate(0, 0, days) }
	deadline := after(4)
	for name, c := range map[string]struct {
		steps   []booking.RefundStep
		percent int
		want    []string
	}{
		"two steps before the deadline": {[]booking.RefundStep{{Until: after(2), Percent: 100},
			{Until: after(3), Percent: 50}}, 100, []string{"Free cancellation until Thu 3 Dec, 12:00.",
			"Then 50 % back until Fri 4 Dec, 12:00.", "No refund after that.",
			"You can cancel until Sat 5 Dec, 12:00."}},
		"the last step ends at the deadline": {[]booking.RefundStep{{Until: after(2), Percent: 100},
			{Until: deadline, Percent: 50}}, 100, []string{"Free cancellation until Thu 3 Dec, 12:00.",
			"Then 50 % back until Sat 5 Dec, 12:00."}},
		"no policy":    {nil, 100, []string{"Free cancellation until Sat 5 Dec, 12:00."}},
		"nothing back": {nil, 0, []string{"You can cancel until Sat 5 Dec, 12:00."}},
	} {
		cancellation := booking.Cancellation{Allowed: true, Until: &deadline, Deadline: &deadline, Steps: c.steps,
			Refund: booking.CancellationRefund{Percent: c.percent, Amount: "10.00"}}
		if got := p.cancelTexts(cancellation); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		content := newCancel(p, cancelQuestion{"manage_cancel_ask", "manage_cancel", "manage_keep"}, templ.NopComponent,
			nil, cancellation, false)
		var html strings.Builder
		if err := content.Body.Render(t.Context(), &html); err != nil {
			t.Fatal(err)
		}
		for _, sentence := range c.want {
			if !strings.Contains(html.String(), sentence) {
				t.Errorf("%s: the page before the cancellation does not say %q", name, sentence)
			}
		}
	}
}

// TestPriceTextsExplainPrice shows that a price names the quantity, the unit price and the labels of the applied
// pricing rules. A discount for a first booking is shown as a condition.
func TestPriceTextsExplainPrice(t *testing.T) {
	t.Parallel()
	ten := decimal.NewFromInt(-10)
	welcome := catalog.Rule{Key: "welcome", Kind: rule.FirstBooking, Percent: &ten}
	group := catalog.Rule{Key: "group", Kind: rule.PartySize, Label: catalog.Label{Text: "Groups of three"}}
	p := newPage(t, &catalog.Snapshot{Rules: []catalog.Rule{welcome, group}})
	price := &usecase.Price{Lines: []json.Number{"49.88"},
		Details: []usecase.PriceDetail{{Quantity: 3, Unit: "17.50", Changes: []*catalog.Rule{&group}}}}
	if got, want := p.priceTexts(price, 0), []string{"3 × €17.50", "Groups of three"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := p.firstBookingText(&welcome), "New customers −10\u00a0%, if this is your first visit"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	sold := &booking.CustomerBooking{Total: "49.88", Services: []booking.BookedService{{
		ID: uuid.New(), Quantity: 3, UnitPrice: "17.50",
		PriceChanges: []booking.PriceChange{{Label: "Groups of three"}},
	}}}
	if got, want := p.bookingTotal(sold), "€49.88 · 3 × €17.50 · Groups of three"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
