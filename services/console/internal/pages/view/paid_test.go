package view

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/texts"
	"github.com/slotmesh/slotmesh/services/console/internal/sales"
)

// TestPaymentSectionShowsDeposit shows that the owner reads the amount to pay on site after a paid deposit. The
// amount is not shown if the booking or order is cancelled.
func TestPaymentSectionShowsDeposit(t *testing.T) {
	t.Parallel()
	all, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	offer := &catalog.Snapshot{Slug: "harbor", Name: "Harbor", Currency: "EUR", Timezone: "Europe/Lisbon"}
	if err := offer.Prepare(); err != nil {
		t.Fatal(err)
	}
	p := &Page{Words: words.In(all, "en"), Business: offer, May: func(access.Action) bool { return false }}
	total := json.Number("40.00")
	for name, c := range map[string]struct {
		paid, amount string
		cancelled    bool
		left         string
	}{
		"a deposit":             {booking.PaymentPaid, "10.00", false, "€30.00 to pay on site"},
		"all of it":             {booking.PaymentPaid, "40.00", false, ""},
		"a deposit, cancelled":  {booking.PaymentPaid, "10.00", true, ""},
		"a deposit, to be paid": {booking.PaymentOpen, "10.00", false, ""},
	} {
		pay := &booking.Payment{Status: c.paid, Amount: json.Number(c.amount), Refunded: "0"}
		b := booking.Booking{Status: booking.StatusConfirmed, Total: total, Currency: "EUR", Payment: pay}
		ticket := booking.Ticket{Status: booking.StatusSold, Total: &total, Currency: "EUR", Payment: pay}
		if c.cancelled {
			b.Status, ticket.Status = booking.StatusCancelled, booking.StatusCancelled
		}
		orders := Orders{Event: sales.EventSales{IsRemoved: true}}
		orders.Details = &sales.OrderDetails{Order: ticket}
		for kind, part := range map[string]templ.Component{"booking": paymentSection(p, b),
			"tickets": orderDetails(p, orders)} {
			var page strings.Builder
			if err := part.Render(t.Context(), &page); err != nil {
				t.Fatal(err)
			}
			if got := page.String(); strings.Contains(got, "to pay on site") != (c.left != "") ||
				!strings.Contains(got, c.left) {
				t.Errorf("%s of a %s: want %q in %s", name, kind, c.left, got)
			}
		}
	}
}
