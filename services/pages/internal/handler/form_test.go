package handler

import (
	"context"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
)

// fakeBookings is a fake booking service that sells one ticket for each idempotency key.
type fakeBookings struct {
	staleBusiness
	links map[string]string // by idempotency key
}

func (s fakeBookings) SellTicket(ctx context.Context, _ uuid.UUID, _ booking.NewTicket) (*booking.Ticket, error) {
	key := idempotency.Of(ctx).Key
	if s.links[key] == "" {
		s.links[key] = "https://pages.example/m/" + uuid.NewString()
	}
	return &booking.Ticket{ManageURL: s.links[key]}, nil
}

// formPage is an answer to a request for a page with a form.
type formPage struct {
	status         int
	text, location string
	token          string
	languages      []string // addresses of the page in other languages
}

var (
	tokenField    = regexp.MustCompile(`name="token" value="([^"]+)"`)
	languageLinks = regexp.MustCompile(`(?:href|formaction)="([^"]*)" lang="`)
)

func requestForm(t *testing.T, app *fiber.App, address string, fields url.Values) formPage {
	t.Helper()
	request := httptest.NewRequest(http.MethodGet, address, http.NoBody)
	if fields != nil {
		request = httptest.NewRequest(http.MethodPost, address, strings.NewReader(fields.Encode()))
		request.Header.Set("Content-Type", fiber.MIMEApplicationForm)
	}
	answer, err := app.Test(request, -1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	f := formPage{status: answer.StatusCode, text: string(text), location: answer.Header.Get("Location")}
	if found := tokenField.FindStringSubmatch(f.text); found != nil {
		f.token = found[1]
	}
	for _, found := range languageLinks.FindAllStringSubmatch(f.text, -1) {
		f.languages = append(f.languages, html.UnescapeString(found[1]))
	}
	return f
}

// newBoxOffice returns the pages of a theatre with two languages, the address of the details of one ticket, and the
// fields of its form.
func newBoxOffice(t *testing.T) (*fiber.App, string, url.Values) {
	t.Helper()
	snapshot := &catalog.Snapshot{
		Slug: "theatre", Name: "Theatre", Currency: "EUR", Timezone: "Europe/Lisbon", DefaultLanguage: "en",
		Languages: []string{"en", "pt"},
		Account:   catalog.Account{SubscriptionActive: true},
	}
	if err := snapshot.Prepare(); err != nil {
		t.Fatal(err)
	}
	business := staleBusiness{cached: snapshot}
	_, app := newTheatre(t, business, business, fakeBookings{business, map[string]string{}})
	fields := url.Values{"n-" + tierID: {"1"}, "total": {"12.00"}, "name": {"Zoë"}, "email": {"zoe@example.com"}}
	return app, "/b/theatre/events/" + galaID + "/details?n-" + tierID + "=1", fields
}

// TestServicesPageTranslatesCategories shows that the page translates categories. The public list of
// services does not.
func TestServicesPageTranslatesCategories(t *testing.T) {
	t.Parallel()
	snapshot := &catalog.Snapshot{
		Slug: "theatre", Name: "Theatre", Currency: "EUR", Timezone: "Europe/Lisbon", DefaultLanguage: "en",
		Languages: []string{"en", "pt"},
		Account:   catalog.Account{SubscriptionActive: true},
		Services: []catalog.Service{{ID: uuid.MustParse(cutID),
			Category: catalog.Label{Text: "Hair", Translations: map[string]string{"pt": "Cabelo"}}}},
	}
	if err := snapshot.Prepare(); err != nil {
		t.Fatal(err)
	}
	business := staleBusiness{cached: snapshot}
	_, app := newTheatre(t, business, business, business)
	for language, want := range map[string]string{"en": "Hair", "pt": "Cabelo", "pt-BR": "Cabelo", "de": "Hair"} {
		if page := requestForm(t, app, "/b/theatre?lang="+language, nil); !strings.Contains(page.text,
			"<h2>"+want+"</h2>") {
			t.Errorf("%s: no heading %s: %d %s", language, want, page.status, page.text)
		}
	}
}

func TestResubmittedFormReturnsSameBooking(t *testing.T) {
	t.Parallel()
	app, address, fields := newBoxOffice(t)
	first := requestForm(t, app, address, nil)
	fields.Set("token", first.token)
	booked := requestForm(t, app, address, fields)
	if booked.status != http.StatusSeeOther {
		t.Fatalf("nothing is booked: %d %s", booked.status, booked.text)
	}
	reopened := requestForm(t, app, address+"&form="+url.QueryEscape(first.token), nil) // as the script does
	fields.Set("token", reopened.token)
	if second := requestForm(t, app, address, fields); second.location != booked.location {
		t.Errorf("going back leads to %q, and not to %q", second.location, booked.location)
	}
	other := requestForm(t, app, address, nil)
	fields.Set("token", other.token)
	if otherBooking := requestForm(t, app, address, fields); otherBooking.status != http.StatusSeeOther ||
		otherBooking.location == booked.location {
		t.Errorf("another form leads to %d %q", otherBooking.status, otherBooking.location)
	}
	if forged := requestForm(t, app, address+"&form=1.made.up", nil); forged.token == "" ||
		forged.token == "1.made.up" {
		t.Errorf("an invented token is shown as %q", forged.token)
	}
}

func TestLanguageChangeKeepsSelectionAndFields(t *testing.T) {
	t.Parallel()
	app, address, fields := newBoxOffice(t)
	page := requestForm(t, app, address+"&form=x", nil)
	if len(page.languages) != 2 {
		t.Fatalf("languages: %q", page.languages)
	}
	// Without scripts, too, the links to other languages send the form with what the reader has typed.
	if !strings.Contains(page.text, `<form id="details"`) || strings.Count(page.text,
		`form="details" formmethod="post"`) != 2 {
		t.Errorf("the languages do not send the form: %s", page.text)
	}
	for i, language := range []string{"en", "pt"} {
		at, err := url.Parse(page.languages[i])
		if err != nil {
			t.Fatal(err)
		}
		if q := at.Query(); at.Path != "/b/theatre/events/"+galaID+"/details" || q.Get("lang") != language ||
			q.Get("n-"+tierID) != "1" {
			t.Errorf("%s is at %s", language, at)
		}
	}
	fields.Set("token", page.token)
	fields.Set("stay", "yes")
	fields.Set("email", "zoe@") // an invalid value, as this request does not check it
	pt := requestForm(t, app, page.languages[1], fields)
	if pt.status != http.StatusOK || pt.token != page.token || !strings.Contains(pt.text, `lang="pt"`) ||
		!strings.Contains(pt.text, `value="Zoë"`) || !strings.Contains(pt.text, `value="zoe@"`) {
		t.Errorf("in Portuguese: %d, token %q: %s", pt.status, pt.token, pt.text)
	}
}
