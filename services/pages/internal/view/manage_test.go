package view

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/services/pages/internal/texts"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// TestCustomerViewShowsMissedPayment shows that the page names the missing payment if a sale was cancelled
// for that reason, and only then.
func TestCustomerViewShowsMissedPayment(t *testing.T) {
	t.Parallel()
	sentences, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	snapshot := &catalog.Snapshot{Slug: "harbor", Name: "Harbor", Currency: "EUR", Timezone: "Europe/Lisbon",
		DefaultLanguage: "de", Languages: []string{"de"}}
	if err := snapshot.Prepare(); err != nil {
		t.Fatal(err)
	}
	p := &Page{Words: words.In(sentences, "de"), Business: &usecase.Business{Snapshot: snapshot}}
	for _, unpaid := range []bool{true, false} {
		for name, m := range map[string]*usecase.CustomerView{
			"booking":     {Booking: &booking.CustomerBooking{Status: booking.StatusCancelled, Unpaid: unpaid}},
			"tickets":     {Ticket: &booking.CustomerTicket{Status: booking.StatusCancelled, Unpaid: unpaid}},
			"reservation": {Reservation: &rental.CustomerReservation{Status: rental.StatusCancelled, Unpaid: unpaid}},
		} {
			var page strings.Builder
			if err := CustomerView(p, m, "").Body.Render(t.Context(), &page); err != nil {
				t.Fatal(err)
			}
			if hasText := strings.Contains(page.String(),
				"Die Online-Zahlung ist nicht rechtzeitig erfolgt."); hasText != unpaid {
				t.Errorf("%s, unpaid %v:\n%s", name, unpaid, page.String())
			}
		}
	}
}

// TestOutlookURLEncodesSpaces shows that blanks in the link are not encoded as plus signs. Outlook would
// show the plus signs.
func TestOutlookURLEncodesSpaces(t *testing.T) {
	t.Parallel()
	sentences, err := texts.Load()
	if err != nil {
		t.Fatal(err)
	}
	p := &Page{Words: words.In(sentences, "en"),
		Business: &usecase.Business{Snapshot: &catalog.Snapshot{Name: "Harbor Studio"}}}
	start := time.Date(2027, 3, 1, 9, 0, 0, 0, time.UTC)
	link := string(p.outlookURL("Cut + wash", start, start.Add(time.Hour)))
	at, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	if subject := at.Query().Get("subject"); strings.Contains(link, "+") || subject != "Cut + wash · Harbor Studio" {
		t.Errorf("%s\nleads to %q", link, subject)
	}
}

// TestRestIsTotalWithoutOnlinePayment shows that the page of a sale states the whole total as the amount on site if
// nothing is paid online, and no amount while an online payment is missing.
func TestRestIsTotalWithoutOnlinePayment(t *testing.T) {
	t.Parallel()
	for want, payment := range map[json.Number]*booking.Payment{
		"40.00": nil, "30": {Status: booking.PaymentPaid, Amount: "10.00"},
		"0": {Status: booking.PaymentOpen, Amount: "10.00"},
	} {
		if rest := computeRest("40.00", payment); rest != want {
			t.Errorf("%+v: %s is left, want %s", payment, rest, want)
		}
	}
}
