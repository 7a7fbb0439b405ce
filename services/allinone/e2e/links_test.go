package e2e

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/services/allinone"
)

// TestCustomerLinkCancelsAndCalendarFeedFollows books, opens the customer's link and cancels by it. The owner's
// calendar feed shows the booking, and is not found after it is revoked.
func TestCustomerLinkCancelsAndCalendarFeedFollows(t *testing.T) {
	t.Parallel()
	const pages = "https://book.example.org"
	w := startPlatform(t, checkRouting(t), func(c *allinone.Config) { c.PagesURL = pages })
	w.publish(t, "fair", buildFair("fair"))
	service := w.idsByName(t, "fair", "services")
	var booked struct {
		Booking   struct{ ID string }
		ManageURL string `json:"manage_url"`
	}
	for _, id := range service {
		if a := w.book(t, "fair", w.createKey(t, "fair", "write"),
			newOrder(id, "2027-03-02", "10:00")); a.status == http.StatusCreated {
			a.decode(t, http.StatusCreated, &booked)
			break
		}
	}
	token, found := strings.CutPrefix(booked.ManageURL, pages+"/m/")
	if _, ok := link.HashToken(token); !found || !ok {
		t.Fatalf("the link is %q", booked.ManageURL)
	}
	var calendar, listed booking.Calendar
	w.callAdmin(t, http.MethodPost, "businesses/fair/calendars", []byte(`{"shows":"names"}`)).decode(t,
		http.StatusCreated,
		&calendar)
	var list booking.CalendarList
	w.callAdmin(t, http.MethodGet, "businesses/fair/calendars", nil).decode(t, http.StatusOK, &list)
	if listed = list.Calendars[0]; listed.ID != calendar.ID || listed.Token != "" || calendar.URL != pages+"/calendar/"+
		calendar.Token+".ics" {
		t.Errorf("made %+v, listed %+v", calendar, listed)
	}
	if status, text := w.getInternal(t, bookingclient.CalendarPath(calendar.Token)); status != http.StatusOK ||
		!strings.Contains(text, "UID:"+booked.Booking.ID) {
		t.Errorf("the calendar: %d %s", status, text)
	}
	p := peer.New("booking", w.InternalURL("booking"), telemetry.Discard(), peer.Timeout(2*time.Minute),
		peer.Secret(peer.Credential(w.PeerSecrets["pages"], "booking")))
	defer p.Close()
	customer := bookingclient.NewLinks(p)
	seen, err := customer.CustomerView(t.Context(), token)
	if err != nil || seen.Business.Slug != "fair" || seen.Booking.ID.String() != booked.Booking.ID ||
		!seen.Booking.Cancellation.Allowed {
		t.Fatalf("%+v, %v", seen, err)
	}
	cancelled, err := customer.Cancel(t.Context(), token,
		booking.CancelByLink{Refund: &seen.Booking.Cancellation.Refund.Amount})
	if err != nil || cancelled.Booking.Status != booking.StatusCancelled {
		t.Errorf("%+v, %v", cancelled, err)
	}
	w.callAdmin(t, http.MethodDelete, "businesses/fair/calendars/"+calendar.ID.String(), nil).checkStatus(t,
		http.StatusNoContent, "")
	if status, _ := w.getInternal(t, bookingclient.CalendarPath(calendar.Token)); status != http.StatusNotFound {
		t.Errorf("a revoked calendar answers %d", status)
	}
}

// getInternal requests a path of booking's internal port. It returns the status and the body.
func (w *platform) getInternal(t *testing.T, path string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.InternalURL("booking")+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set(peer.SecretHeader, peer.Credential(w.PeerSecrets["pages"], "booking"))
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 2 * time.Minute}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}
