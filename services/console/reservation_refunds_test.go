package console_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// addPaidReservation adds a reservation of two kayaks, three days from now. It costs 24.00, of which 20.00 is an online
// payment.
func addPaidReservation(w *consoletest.Fixture, status, payment string, refund *booking.Refund) string {
	price, email, id := json.Number("24.00"), "cara@example.com", uuid.New()
	day := timespan.NewDate(clock.System().Now().Date()) + 3
	w.Rental.Add(rental.Reservation{
		ID: id, RentalID: uuid.MustParse(kayak), RentalName: "Kayak", Status: status, Quantity: 2, StartDate: day,
		EndDate: day, Extras: []rental.Extra{},
		Price: &price, Total: &price, Currency: "EUR", CustomerName: "Cara", CustomerEmail: &email,
		FormData: []byte("{}"), Locale: "en", CreatedAt: consoletest.Epoch,
		Payment: &booking.Payment{Provider: "stripe", Status: payment, Amount: "20.00", Refunded: "0.00",
			Refund: refund},
	})
	return id.String()
}

func TestReservationCancelsAndRefunds(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	publish(t, w)
	for body, want := range map[string]any{
		"": 10.0, `{}`: 10.0, `{"refund":"policy"}`: 10.0, `{"refund":"full"}`: 20.0, `{"refund":12.5}`: 12.5,
		`{"refund":"none"}`: nil,
	} {
		id := addPaidReservation(w, "reserved", "paid", nil)
		at := harb + "/reservations/" + id
		preview := w.Call(t, "GET", at+"/cancellation", "")
		if diff := cmp.Diff(map[string]any{"amount": 10.0, "percent": 50.0, "currency": "EUR"},
			field(t, preview, "refund")); diff != "" {
			t.Errorf("the preview (-want +got):\n%s", diff)
		}
		expect(t, w.Call(t, "POST", at+"/cancel", `{"refund":"all"}`), 400, "invalid_parameter", "refund")
		expect(t, w.Call(t, "POST", at+"/refund", ""), 409, "conflict", "cancel it")
		got := w.Call(t, "POST", at+"/cancel", body)
		if got.Status != 200 || field(t, got, "status") != "cancelled" {
			t.Fatalf("%s: %d %s", body, got.Status, got.Body)
		}
		refund, _ := field(t, got, "payment").(map[string]any)["refund"].(map[string]any)
		if refund["amount"] != want {
			t.Errorf("%s: %v is refunded, want %v", body, refund, want)
		}
		expect(t, w.Call(t, "POST", at+"/cancel", body), 409, "conflict", "cancelled")
		if got := w.Call(t, "POST", at+"/refund", `{"refund":5}`); got.Status != 200 || !strings.Contains(got.Body,
			`"amount":5`) {
			t.Errorf("refund: %d %s", got.Status, got.Body)
		}
		if want := `"reservation_id":"` + id + `","refund":"5"`; !strings.Contains(w.Log.String(), want) {
			t.Errorf("the log has no %s", want)
		}
	}
	for _, call := range []string{"GET cancellation", "POST cancel", "POST refund"} {
		method, path, _ := strings.Cut(call, " ")
		for _, id := range []string{uuid.NewString(), "1"} {
			expect(t, w.Call(t, method, harb+"/reservations/"+id+"/"+path, ""), 404, "not_found", "Reservation")
		}
	}
	if strings.Contains(strings.ToLower(w.Log.String()), "cara") {
		t.Errorf("the log contains data of the customer: %s", w.Log)
	}
}

func TestReservationRefundsBeyondPolicyNeedPermission(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	desk, _ := addTokenAs(t, w, id, access.FrontDesk)
	manager, _ := addTokenAs(t, w, id, access.Manager)
	for token, may := range map[string]bool{desk: false, manager: true} {
		for body, hasOthers := range map[string]bool{"": false, `{"refund":"policy"}`: false, `{"refund":"full"}`: true,
			`{"refund":"none"}`: true, `{"refund":1.5}`: true} {
			got := w.CallAs(t, token, "POST", harb+"/reservations/"+addPaidReservation(w, "reserved", "paid", nil)+
				"/cancel", body)
			if want := !hasOthers || may; (got.Status == 200) != want || !want && got.Status != 403 {
				t.Errorf("%s: %d %s", body, got.Status, got.Body)
			}
		}
	}
}

// publishRental publishes harbor with a rental and returns the sessions of an owner and of a member with the front desk
// role.
func publishRental(t *testing.T, w *consoletest.Fixture) (string, string) {
	t.Helper()
	got := w.Call(t, "PUT", harb, consoletest.BuildManifest("harbor", "Harbor")+
		"rentals: [{key: kayak, name: Kayak, price: 12, price_type: hourly, quantity: 2, units_count: 2}]\n",
		"Content-Type", yaml)
	id := uuid.MustParse(field(t, got, "id").(string))
	return w.AddSession(t, "ana@example.com", access.Member{BusinessID: id, Role: access.Owner}),
		w.AddSession(t, "bo@example.com", access.Member{BusinessID: id, Role: access.FrontDesk})
}

// expectSentences expects the status and all sentences on the page. A sentence that begins with "-" must not be there.
func expectSentences(t *testing.T, page consoletest.Answer, status int, sentences ...string) {
	t.Helper()
	for _, sentence := range sentences {
		hidden, not := strings.CutPrefix(sentence, "-")
		if strings.Contains(page.Body, hidden) == not || page.Status != status {
			t.Errorf("%q: %d %s", sentence, page.Status, page.Body)
		}
	}
}

func TestReservationRefundReportsRefundableRest(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	owner, _ := publishRental(t, w)
	at := "/business/harbor/reservations/" + addPaidReservation(w, "reserved", "paid", nil)
	const text = "€20.00 was paid online. You can still refund up to €20.00."
	expectSentences(t, postForm(t, w, at+"/cancel", owner, url.Values{"refund": {"amount"}, "amount": {"20.01"}}), 422,
		text)
	at = "/business/harbor/reservations/" + addPaidReservation(w, "cancelled", "paid", nil)
	expectSentences(t, postForm(t, w, at+"/refund", owner, url.Values{"amount": {"300"}}), 422, text,
		"-Something has changed")
}

func TestBookingRefundReportsRefundableRest(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	owner := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Owner})
	const text = "€40.00 was paid online. You can still refund up to €25.00."
	for status, sent := range map[string]struct {
		at   string
		form url.Values
	}{
		booking.StatusConfirmed: {"/cancel", url.Values{"refund": {"amount"}, "amount": {"25.01"}}},
		booking.StatusCancelled: {"/refund", url.Values{"amount": {"300"}}},
	} {
		b := someBooking(status, "2030-12-01")
		b.Payment = &booking.Payment{
			Provider: "stripe",
			Status:   booking.PaymentPaid,
			Amount:   "40.00",
			Refunded: "15.00",
		}
		w.Booking.Add(id, b)
		got := postForm(t, w, "/business/harbor/bookings/"+b.ID.String()+sent.at, owner, sent.form)
		expectSentences(t, got, 422, text, "-Something has changed")
	}
}

func TestCancelReservationPageShowsRefund(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	owner, desk := publishRental(t, w)
	const rentals, all = "/business/harbor/rentals", `value="full"`
	at := "/business/harbor/reservations/" + addPaidReservation(w, "reserved", "paid", nil)
	expectSentences(t, getPage(t, w, rentals, desk), 200, at+"/cancel", "€20.00 paid online", "€4.00 to pay on site")
	expectSentences(t, getPage(t, w, at+"/cancel", owner), 200, "2 × Kayak", "€20.00 paid online",
		"By the cancellation policy: €10.00 (50 %)",
		"Full refund: €20.00", all)
	expectSentences(t, getPage(t, w, at+"/cancel", desk), 200, "By the cancellation policy: €10.00 (50 %)", "-"+all)
	expectSentences(t, postForm(t, w, at+"/cancel", desk, url.Values{"refund": {"full"}}), 403, "")
	expectSentences(t, postForm(t, w, at+"/cancel", owner, url.Values{"refund": {"amount"}, "amount": {"much"}}), 422,
		"much", all)
	expectSentences(t, postForm(t, w, at+"/cancel", owner, url.Values{"refund": {"policy"}, "shown": {"20.00"}}), 409,
		"This was changed a moment ago", "By the cancellation policy: €10.00")
	got := postForm(t, w, at+"/cancel", owner, url.Values{"refund": {"amount"}, "amount": {"5,50"}})
	if to := got.Header.Get("Location"); got.Status != 303 || to != rentals+"?done=reservation_cancel" {
		t.Fatalf("cancelled: %d to %q: %s", got.Status, to, got.Body)
	}
	if list := w.Call(t, "GET", harb+"/reservations", ""); !strings.Contains(list.Body, `"amount":5.5`) ||
		!strings.Contains(list.Body, `"status":"cancelled"`) {
		t.Errorf("cancelled: %s", list.Body)
	}
	if second := getPage(t, w, at+"/cancel", owner); second.Status != 303 || second.Header.Get("Location") != rentals+
		"?wrong=changed" {
		t.Errorf("once more: %d %s", second.Status, second.Header.Get("Location"))
	}
}

func TestFailedRefundIsRepeatedOnCustomerPage(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	owner, desk := publishRental(t, w)
	refund := "/business/harbor/reservations/" + addPaidReservation(w, "cancelled", "paid",
		&booking.Refund{Amount: "10.00", Percent: 50, Status: booking.RefundRefused}) + "/refund"
	const customer = "/business/harbor/customers/one?email=cara%40example.com"
	expectSentences(t, getPage(t, w, customer, owner), 200, refund, "The provider refused to refund €10.00")
	expectSentences(t, getPage(t, w, customer, desk), 200, "-"+refund, "The provider refused to refund €10.00")
	expectSentences(t, getPage(t, w, refund, owner), 200, "You can still refund up to €20.00")
	expectSentences(t, postForm(t, w, refund, owner, url.Values{"amount": {"much"}}), 422, "much")
	got := postForm(t, w, refund, owner, url.Values{"amount": {"20"}})
	if to := got.Header.Get("Location"); got.Status != 303 ||
		to != "/business/harbor/customers/one?done=refunded&email="+sealValue(t, "cara@example.com") {
		t.Fatalf("refunded: %d to %q: %s", got.Status, to, got.Body)
	}
	expectSentences(t, getPage(t, w, customer, owner), 200, "-"+refund, "€20.00 being refunded")
}

func TestUnpaidReservationsAreShown(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	_, desk := publishRental(t, w)
	pages := []string{"/business/harbor/today", "/business/harbor/rentals"}
	for _, page := range pages {
		expectSentences(t, getPage(t, w, page, desk), 200, "-To be paid online")
	}
	addPaidReservation(w, "pending", "open", nil)
	for _, page := range pages {
		expectSentences(
			t,
			getPage(t, w, page, desk),
			200,
			"To be paid online",
			"<bdi>2 × Kayak",
			"€20.00 to be paid online",
			"-/pickup",
		)
	}
	expectSentences(t, getPage(t, w, "/business/harbor/customers/one?email=cara@example.com", desk), 200, "To be paid")
}

// TestRentalRequestsNameBusinessID shows that each request to rental has the id of the business. The
// slug alone could still mean an earlier business.
func TestRentalRequestsNameBusinessID(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	business := publish(t, w)
	token, _ := addTokenAs(t, w, business, access.Owner)
	id := uuid.NewString()
	for path, method := range map[string]string{
		"/reservations": "GET", "/reservations/" + id + "/pickup": "POST",
		"/reservations/" + id + "/cancellation": "GET", "/reservations/" + id + "/cancel": "POST",
		"/reservations/" + id + "/refund": "POST", "/customers": "GET",
		"/customers/export?email=ada@example.com":               "GET",
		"/reports/revenue?from=2027-03-01&to=2027-03-31&by=day": "GET",
	} {
		w.CallAs(t, token, method, harb+path, "")
	}
	w.CallAs(t, token, "POST", harb+"/customers/erase", `{"email":"ada@example.com"}`)
	getPage(t, w, "/business/harbor/reservations/"+id+"/cancel",
		w.AddSession(t, "ada@example.com", access.Member{BusinessID: business, Role: access.Owner}))
	want := map[string]string{}
	for _, route := range []string{
		"GET reservations", "GET reservations/{id}", "GET reservations/{id}/cancellation",
		"POST reservations/{id}/{move}", "POST reservations/{id}/cancel",
		"POST reservations/{id}/refund", "POST customers/search", "POST customers/held", "POST customers/erase",
		"GET reports/revenue",
	} {
		want[route] = business.String()
	}
	if diff := cmp.Diff(want, w.Rental.ListBusinessIDs()); diff != "" {
		t.Errorf("rental was asked about (-want +got):\n%s", diff)
	}
}
