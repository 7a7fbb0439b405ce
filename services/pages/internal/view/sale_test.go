package view

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/message/words"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/peer/rental"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/pages/internal/texts"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// TestTheCustomersPageShowsTheZoneAndCurrencyOfTheSale although the business has others today.
func TestTheCustomersPageShowsTheZoneAndCurrencyOfTheSale(t *testing.T) {
	t.Parallel()
	sentences, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	offer := &catalog.Offer{Slug: "harbor", Name: "Harbor", Currency: "JPY", Timezone: "America/Chicago", DefaultLanguage: "de", Languages: []string{"de"}}
	if err := offer.Prepare(); err != nil {
		t.Fatal(err)
	}
	p := &Page{
		Words: words.In(sentences, "de"), Business: &usecase.Business{Offer: offer}, Managed: "/m/x", Sold: Sale{Timezone: "Europe/Lisbon", Currency: "EUR"},
	}
	until := time.Date(2027, 7, 1, 12, 0, 0, 0, time.UTC)
	start, total := until.Add(2*time.Hour), json.Number("1234.50")
	may := booking.Cancellation{Allowed: true, Until: &until, Refund: booking.CancellationRefund{Amount: total, Percent: 100, Currency: "EUR"}}
	nine, ten := timespan.TimeOfDay(15*60), timespan.TimeOfDay(16*60)
	for name, m := range map[string]*usecase.Managed{
		"booking": {Booking: &booking.ManagedBooking{Status: booking.StatusConfirmed, Date: "2027-07-01", StartTime: "15:00:00", EndTime: "16:00:00",
			StartsAt: start, EndsAt: start.Add(time.Hour), Total: total, Cancellation: may}},
		"tickets": {Ticket: &booking.ManagedTicket{Status: booking.StatusSold, Date: "2027-07-01", StartTime: "15:00:00", StartsAt: start, EndsAt: start.Add(time.Hour),
			Total: &total, Cancellation: may}},
		"reservation": {Reservation: &rental.ManagedReservation{Status: rental.StatusReserved, StartDate: timespan.NewDate(2027, 7, 1), EndDate: timespan.NewDate(2027, 7, 1),
			StartTime: &nine, EndTime: &ten, Total: &total, Cancellation: may}},
	} {
		var page strings.Builder
		if err := Managed(p, m, "").Body.Render(t.Context(), &page); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"15:00 – 16:00", "Europe/Lisbon", "1.234,50\u00a0€", "13:00"} {
			if !strings.Contains(page.String(), want) {
				t.Errorf("%s does not say %q:\n%s", name, want, page.String())
			}
		}
		if strings.Contains(page.String(), "Chicago") || strings.Contains(page.String(), "¥") {
			t.Errorf("%s says what the business has today:\n%s", name, page.String())
		}
	}
}
