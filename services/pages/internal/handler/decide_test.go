package handler

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// fakeDecisions is a fake of the booking service with one pending booking.
type fakeDecisions struct {
	decision booking.Decision
	writes   []booking.Decide
	reads    int
}

var _ Decisions = (*fakeDecisions)(nil)

func (f *fakeDecisions) Read(_ context.Context, _ uuid.UUID, token string) (*booking.Decision, error) {
	f.reads++
	if token != decisionToken {
		return nil, link.NewNotFoundFault()
	}
	return &f.decision, nil
}

func (f *fakeDecisions) Decide(_ context.Context, _ uuid.UUID, d booking.Decide) error {
	f.writes = append(f.writes, d)
	if d.Sequence != f.decision.Booking.Sequence || !f.decision.IsOpen {
		return fault.New(fault.Conflict, "This booking was changed.")
	}
	f.decision.IsOpen, f.decision.Booking.Status = false, booking.StatusConfirmed
	f.decision.Made = &booking.MadeDecision{At: f.decision.Booking.CreatedAt, By: booking.DecidedByYou}
	return nil
}

// decisionToken has the form of a token.
var decisionToken = strings.Repeat("a", 64)

const decisionPath = "/b/theatre/decide/"

func newDecisions(t *testing.T) (*fakeDecisions, *fiber.App) {
	t.Helper()
	start := time.Date(2027, 3, 2, 9, 30, 0, 0, time.UTC)
	phone := "+351 21 000 0000"
	fake := &fakeDecisions{decision: booking.Decision{IsOpen: true, Refund: "24.00", Booking: booking.Booking{
		ID: uuid.New(), Status: booking.StatusPending, Sequence: 3, Date: "2027-03-02", StartTime: "09:30:00",
		EndTime: "10:15:00", StartsAt: start, EndsAt: start.Add(45 * time.Minute), Currency: "EUR", Total: "24.00",
		Timezone: "Europe/Lisbon", CreatedAt: start.Add(-time.Hour), CustomerName: "Ana <b>", CustomerPhone: &phone,
		CustomerEmail: "ana@example.com", Services: []booking.BookedService{{Name: "Haircut"}},
	}}}
	app := newOwnApp(t, &ownPeers{}, Config{Decisions: fake, OwnerURL: "https://owner.example/"})
	return fake, app
}

func sendRequest(t *testing.T, app *fiber.App, r *http.Request) (*http.Response, string) {
	t.Helper()
	answer, err := app.Test(r, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(text)
}

func newForm(path string, form url.Values) *http.Request {
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", fiber.MIMEApplicationForm)
	return r
}

// TestOpeningDecisionChangesNothing shows that programs that check mails cannot decide: GET and HEAD only show the
// booking. The page is not cached or indexed, no other site can show it in a frame, and it sends no referrer.
func TestOpeningDecisionChangesNothing(t *testing.T) {
	t.Parallel()
	fake, app := newDecisions(t)
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		answer, text := sendRequest(t, app, httptest.NewRequest(method, decisionPath+decisionToken+"?decision=confirm", nil))
		for header, want := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "same-origin"} {
			if got := answer.Header.Get(header); got != want || answer.StatusCode != http.StatusOK {
				t.Errorf("%s: %d, %s is %q", method, answer.StatusCode, header, got)
			}
		}
		if policy := answer.Header.Get("Content-Security-Policy"); !strings.Contains(policy, "frame-ancestors 'none'") {
			t.Error(policy)
		}
		if method == http.MethodHead {
			continue
		}
		for _, part := range []string{"New booking request", "Ana &lt;b&gt;", "ana@example.com", "tel:+351210000000",
			"Haircut", "Declining refunds €24.00.", `name="robots" content="noindex`, `value="confirm"`, `value="cancel"`,
			"https://owner.example/business/theatre/bookings/" + fake.decision.Booking.ID.String()} {
			if !strings.Contains(text, part) {
				t.Errorf("the page has no %q:\n%s", part, text)
			}
		}
	}
	if len(fake.writes) > 0 {
		t.Errorf("%v", fake.writes)
	}
}

// TestDecisionFormDecidesOnce shows that the form decides about the state that the page showed, that the page then
// shows the decision without buttons, and that a page of another site cannot send the form.
func TestDecisionFormDecidesOnce(t *testing.T) {
	t.Parallel()
	fake, app := newDecisions(t)
	path := decisionPath + decisionToken
	foreign := newForm(path, url.Values{"decision": {"confirm"}, "sequence": {"3"}})
	foreign.Header.Set("Sec-Fetch-Site", "cross-site")
	if answer, _ := sendRequest(t, app, foreign); answer.StatusCode != http.StatusForbidden {
		t.Errorf("from another site: %d", answer.StatusCode)
	}
	if answer, _ := sendRequest(t, app, newForm(path, url.Values{"decision": {"confirm"}})); answer.StatusCode !=
		http.StatusBadRequest {
		t.Errorf("without the number: %d", answer.StatusCode)
	}
	answer, text := sendRequest(t, app, newForm(path, url.Values{"decision": {"cancel"}, "sequence": {"2"},
		"reason": {"Anna <is> ill."}}))
	if answer.StatusCode != http.StatusConflict || !strings.Contains(text, "changed a moment ago") ||
		!strings.Contains(text, ">Anna &lt;is&gt; ill.</textarea>") || fake.writes[0].Reason != "Anna <is> ill." {
		t.Errorf("an earlier state: %d %s", answer.StatusCode, text)
	}
	answer, _ = sendRequest(t, app, newForm(path+"?lang=de", url.Values{"decision": {"confirm"}, "sequence": {"3"}}))
	if at := answer.Header.Get("Location"); answer.StatusCode != http.StatusSeeOther || at != path+"?lang=de" {
		t.Errorf("%d to %s", answer.StatusCode, at)
	}
	for range 2 { // the second form was sent again by mistake
		_, text = sendRequest(t, app, httptest.NewRequest(http.MethodGet, path+"?lang=de", nil))
		if strings.Contains(text, "<form") || !strings.Contains(text, "Buchung bestätigt") ||
			!strings.Contains(text, "Sie</dd>") {
			t.Error(text)
		}
		answer, text = sendRequest(t, app, newForm(path, url.Values{"decision": {"cancel"}, "sequence": {"3"}}))
		if answer.StatusCode != http.StatusConflict || strings.Contains(text, "<form") ||
			!strings.Contains(text, "Booking confirmed") {
			t.Errorf("%d %s", answer.StatusCode, text)
		}
	}
}

// TestInvalidDecisionLinksAre404 shows that an unknown link has the same page as a malformed one, which needs no call.
func TestInvalidDecisionLinksAre404(t *testing.T) {
	t.Parallel()
	fake, app := newDecisions(t)
	unknown, page := sendRequest(t, app, httptest.NewRequest(http.MethodGet, decisionPath+strings.Repeat("b", 64), nil))
	malformed, other := sendRequest(t, app, httptest.NewRequest(http.MethodGet, decisionPath+"x", nil))
	page = strings.ReplaceAll(page, strings.Repeat("b", 64), "x") // the links to other languages have the path
	if unknown.StatusCode != http.StatusNotFound || malformed.StatusCode != http.StatusNotFound || page != other ||
		fake.reads != 1 {
		t.Errorf("%d, %d, %d calls\n%s\n%s", unknown.StatusCode, malformed.StatusCode, fake.reads, page, other)
	}
}

// TestLateDecisionsAreExplained shows a booking that has begun, and a decision by another recipient.
func TestLateDecisionsAreExplained(t *testing.T) {
	t.Parallel()
	fake, app := newDecisions(t)
	fake.decision.IsOpen = false
	_, text := sendRequest(t, app, httptest.NewRequest(http.MethodGet, decisionPath+decisionToken, nil))
	if strings.Contains(text, "<form") || !strings.Contains(text, "too late to decide") {
		t.Error(text)
	}
	fake.decision.Booking.Status = booking.StatusCancelled
	fake.decision.Made = &booking.MadeDecision{At: fake.decision.Booking.CreatedAt, By: booking.DecidedByRecipient,
		Email: "d…@harbor.example"}
	_, text = sendRequest(t, app, httptest.NewRequest(http.MethodGet, decisionPath+decisionToken, nil))
	if !strings.Contains(text, "Booking cancelled") || !strings.Contains(text, "· d…@harbor.example") {
		t.Error(text)
	}
}
