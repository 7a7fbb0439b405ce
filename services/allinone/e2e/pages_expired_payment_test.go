package e2e

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/allinone"
	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// paidItem is a paid booking, order of tickets or reservation in an owner's list.
type paidItem struct {
	Status  string
	Payment *booking.Payment
}

// awaitStatus reads the only booking, order or reservation of a business until it meets the condition.
func (w *platform) awaitStatus(t *testing.T, slug, list, label string, isDone func(paidItem) bool) {
	t.Helper()
	given, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		var all map[string][]paidItem
		w.callAdmin(t, http.MethodGet, "businesses/"+slug+"/"+list, nil).decode(t, http.StatusOK, &all)
		if len(all[list]) == 1 && isDone(all[list][0]) {
			return
		}
		select {
		case <-tick.C:
		case <-given.Done():
			t.Fatalf("%s of %s never become %s: %+v", list, slug, label, all[list])
		}
	}
}

// goToPayment chooses a product, fills in the form, and goes to the provider's page.
func goToPayment(v *visitor.Visitor, address string, choose func()) {
	v.Go(address)
	choose()
	v.ExpectText("Your details")
	fillContact(v)
	v.PressElement("main button[type=submit]")
	v.ExpectText("The provider's page")
}

// payLate returns from the payment page after the platform has cancelled the unpaid booking, order and reservation.
// One customer gives up, two pay anyway: their pages show the cancellation, and each gets the whole amount back once.
func (p *pages) payLate(t *testing.T) {
	t.Parallel()
	cashier := startFakeStripe(t, testkit.StartStripeMock(t).URL)
	w := startPlatform(t, cashier.connect, func(cfg *allinone.Config) { cfg.Settings["PAYMENT_EXPIRES_AFTER"] = "1s" })
	cashier.notices = w.PublicURL + "/api/public/stripe/webhook"
	w.publish(t, "late", buildPaidSalon("late"))
	w.publish(t, "late-gala", buildPaidTheatre("late-gala", "online"))
	w.publish(t, "late-kayak", buildPaidShed("late-kayak", "online"))
	cut, gala, kayak := p.openVisitor(t, visitor.Profile{Locale: "en-GB"}),
		p.openVisitor(t, visitor.Profile{Locale: "en-GB"}),
		p.openVisitor(t, visitor.Profile{Locale: "en-GB"})
	goToPayment(cut, w.PublicURL+"/b/late", func() {
		cut.Press("Cut")
		cut.PressElement(".day[href]")
		cut.Press("10:00")
	})
	goToPayment(gala, w.PublicURL+"/b/late-gala/events", func() {
		gala.Press("Gala")
		gala.ExpectElement(".tiers select")
		gala.Choose(".tiers li:nth-child(1) select", 2)
		gala.Press("Continue")
	})
	goToPayment(kayak, w.PublicURL+"/b/late-kayak/rentals", func() {
		kayak.Press("Kayak")
		kayak.ExpectElement("main select[name=start]")
		kayak.Press("Continue")
	})
	for slug, list := range map[string]string{"late": "bookings", "late-gala": "tickets",
		"late-kayak": "reservations"} {
		// The reconciliation cancels it.
		w.awaitStatus(t, slug, list, "cancelled", func(p paidItem) bool { return p.Status == booking.StatusCancelled })
	}
	cut.Press("Give up")
	cut.ExpectText("Booking cancelled", "Book again")
	cut.ExpectNoText("Due now", "Add to calendar")
	other := p.openVisitor(t, visitor.Profile{Locale: "en-GB"})
	other.Go(cut.Address())
	other.ExpectText("Booking cancelled")
	other.Check()
	other.SaveScreenshot("late")
	p.payTooLate(t, w, gala, "late-gala", "tickets", "Tickets cancelled", "2 × Stalls", "Refund €142.00")
	p.payTooLate(t, w, kayak, "late-kayak", "reservations", "Reservation cancelled", "Kayak", "Refund €12.00")
	given := map[string]string{}
	for range 2 {
		refund := cashier.awaitRefund(t)
		given[cashier.findSession(strings.TrimPrefix(refund.Get("payment_intent"),
			"pi_")).Get("line_items[0][price_data][unit_amount]")] = refund.Get("amount")
	}
	if diff := cmp.Diff(map[string]string{"14200": "14200", "1200": "1200"}, given); diff != "" ||
		len(cashier.refunds) > 0 {
		t.Errorf("refunds (-paid +refunded), and %d more:\n%s", len(cashier.refunds), diff)
	}
	(&pages{platform: w, chromium: p.chromium}).checkUnknownAvailability(t)
}

// awaitRefund waits for the next refund that the platform requests.
func (c *fakeStripe) awaitRefund(t *testing.T) url.Values {
	t.Helper()
	select {
	case refund := <-c.refunds:
		return refund
	case <-time.After(3 * time.Minute):
		t.Fatal("the late payment is not refunded")
		return nil
	}
}

// payTooLate pays a cancelled order or reservation and checks its refund.
func (p *pages) payTooLate(t *testing.T, w *platform, v *visitor.Visitor, slug, list string, reads ...string) {
	t.Helper()
	v.Press("Pay")
	v.ExpectText(reads[0])
	w.awaitStatus(t, slug, list, "refunded", func(p paidItem) bool {
		return p.Status == booking.StatusCancelled && p.Payment.Refund != nil &&
			p.Payment.Refund.Status != booking.RefundRefused
	})
	link, _, _ := strings.Cut(v.Address(), "?")
	later := p.openVisitor(t, visitor.Profile{Locale: "en-GB"})
	later.Go(link)
	later.ExpectText(append(reads, "Your refund goes back the way you paid", "Book again")...)
	later.ExpectNoText("Due now", "Add to calendar", "Please pay online")
	later.Check()
	later.SaveScreenshot(slug)
}
