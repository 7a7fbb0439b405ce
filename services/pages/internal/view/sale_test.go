package view

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/pages/internal/texts"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// TestCustomerViewUsesZoneAndCurrencyOfSale shows that the page uses the time zone and currency of the sale,
// even if the business has changed them.
func TestCustomerViewUsesZoneAndCurrencyOfSale(t *testing.T) {
	t.Parallel()
	sentences, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	snapshot := &catalog.Snapshot{Slug: "harbor", Name: "Harbor", Currency: "JPY", Timezone: "America/Chicago",
		DefaultLanguage: "de", Languages: []string{"de"}}
	if err := snapshot.Prepare(); err != nil {
		t.Fatal(err)
	}
	p := &Page{
		Words: words.In(sentences, "de"), Business: &usecase.Business{Snapshot: snapshot}, LinkPath: "/m/x",
		Sale: Sale{Timezone: "Europe/Lisbon", Currency: "EUR"},
	}
	until := time.Date(2027, 7, 1, 12, 0, 0, 0, time.UTC)
	start, total := until.Add(2*time.Hour), json.Number("1234.50")
	may := booking.Cancellation{Allowed: true, Until: &until, Refund: booking.CancellationRefund{Amount: total,
		Percent: 100, Currency: "EUR"}}
	nine, ten := timespan.TimeOfDay(15*60), timespan.TimeOfDay(16*60)
	for name, m := range map[string]*usecase.CustomerView{
		"booking": {Booking: &booking.CustomerBooking{Status: booking.StatusConfirmed, Date: "2027-07-01",
			StartTime: "15:00:00", EndTime: "16:00:00",
			StartsAt: start, EndsAt: start.Add(time.Hour), Total: total, Cancellation: may}},
		"tickets": {Ticket: &booking.CustomerTicket{Status: booking.StatusSold, Date: "2027-07-01",
			StartTime: "15:00:00", StartsAt: start, EndsAt: start.Add(time.Hour),
			Total: &total, Cancellation: may}},
		"reservation": {Reservation: &rental.CustomerReservation{Status: rental.StatusReserved,
			StartDate: timespan.NewDate(2027, 7, 1), EndDate: timespan.NewDate(2027, 7, 1),
			StartTime: &nine, EndTime: &ten, Total: &total, Cancellation: may}},
	} {
		var page strings.Builder
		if err := CustomerView(p, m, "").Body.Render(t.Context(), &page); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"15:00 – 16:00", "Europe/Lisbon", "1.234,50\u00a0€", "13:00"} {
			if !strings.Contains(page.String(), want) {
				t.Errorf("%s does not say %q:\n%s", name, want, page.String())
			}
		}
		if strings.Contains(page.String(), "Chicago") || strings.Contains(page.String(), "¥") {
			t.Errorf("%s shows the present time zone or currency of the business:\n%s", name, page.String())
		}
	}
}

// TestCustomerViewShowsPaidDeposit shows that the page names the paid deposit and the amount to pay on site.
// After a cancellation or the end, no such amount is shown.
func TestCustomerViewShowsPaidDeposit(t *testing.T) {
	t.Parallel()
	sentences, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	snapshot := &catalog.Snapshot{Slug: "harbor", Name: "Harbor", Currency: "EUR", Timezone: "Europe/Lisbon",
		DefaultLanguage: "en", Languages: []string{"en"}}
	if err := snapshot.Prepare(); err != nil {
		t.Fatal(err)
	}
	total := json.Number("40.00")
	for _, c := range []struct {
		status, amount string
		over           string // why nothing is to be paid on site; "" if the sale lies ahead
		want           []string
		not            []string
	}{
		{booking.PaymentPaid, "10.00", "", []string{"<dt>Paid</dt><dd>€10.00", "</dt><dd>€30.00"}, nil},
		{booking.PaymentPaid, "40.00", "", []string{"<dt>Paid</dt><dd>€40.00"}, []string{"Due at", "Due on"}},
		{booking.PaymentPaid, "10.00", "cancelled", []string{"<dt>Paid</dt><dd>€10.00"}, []string{"Due at", "Due on"}},
		{booking.PaymentPaid, "10.00", "ended", []string{"<dt>Paid</dt><dd>€10.00"}, []string{"Due at", "Due on"}},
		{booking.PaymentPaid, "10.00", "withdrawn", []string{"<dt>Paid</dt><dd>€10.00"}, []string{"Due at", "Due on"}},
		{booking.PaymentOpen, "10.00", "", nil, []string{"<dt>Paid</dt>", "Due at", "Due on"}},
	} {
		now := time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)
		status, ends, isWithdrawn := func(live string) string { return live }, now.Add(time.Hour), c.over == "withdrawn"
		rented := rental.StatusReserved
		switch c.over {
		case "cancelled":
			status, rented = func(string) string { return booking.StatusCancelled }, rental.StatusCancelled
		case "ended":
			ends, rented = now.Add(-time.Hour), rental.StatusReturned
		}
		paid := &booking.Payment{Status: c.status, Amount: json.Number(c.amount), Refunded: "0"}
		p := &Page{Words: words.In(sentences, "en"), Business: &usecase.Business{Snapshot: snapshot, Now: now}, LinkPath: "/m/x",
			Sale: Sale{Currency: "EUR"}}
		for name, m := range map[string]*usecase.CustomerView{
			"booking": {Booking: &booking.CustomerBooking{Status: status(booking.StatusConfirmed), Total: total,
				Payment: paid, EndsAt: ends, Withdrawn: isWithdrawn}},
			"tickets": {Ticket: &booking.CustomerTicket{Status: status(booking.StatusSold), Total: &total,
				Payment: paid, EndsAt: ends, Withdrawn: isWithdrawn}},
			"reservation": {Reservation: &rental.CustomerReservation{Status: rented, Total: &total, Payment: paid,
				Withdrawn: isWithdrawn}},
		} {
			var page strings.Builder
			if err := CustomerView(p, m, "").Body.Render(t.Context(), &page); err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if !strings.Contains(page.String(), want) {
					t.Errorf("%s, %+v: no %q in\n%s", name, c, want, page.String())
				}
			}
			for _, not := range c.not {
				if strings.Contains(page.String(), not) {
					t.Errorf("%s, %+v: %q in\n%s", name, c, not, page.String())
				}
			}
		}
	}
}
