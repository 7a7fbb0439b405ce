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

// sales is a fake booking service that sells one ticket for each idempotency key.
type sales struct {
	meanwhile
	links map[string]string // by idempotency key
}

func (s sales) SellTicket(ctx context.Context, _ uuid.UUID, _ booking.NewTicket) (*booking.Ticket, error) {
	key := idempotency.Of(ctx).Key
	if s.links[key] == "" {
		s.links[key] = "https://pages.example/m/" + uuid.NewString()
	}
	return &booking.Ticket{ManageURL: s.links[key]}, nil
}

// form is an answer to a request for a page with a form.
type form struct {
	status         int
	text, location string
	token          string
	languages      []string // addresses of the page in other languages
}

var (
	tokenField    = regexp.MustCompile(`name="token" value="([^"]+)"`)
	languageLinks = regexp.MustCompile(`href="([^"]*)" lang="`)
)

func ask(t *testing.T, app *fiber.App, address string, fields url.Values) form {
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
	f := form{status: answer.StatusCode, text: string(text), location: answer.Header.Get("Location")}
	if found := tokenField.FindStringSubmatch(f.text); found != nil {
		f.token = found[1]
	}
	for _, found := range languageLinks.FindAllStringSubmatch(f.text, -1) {
		f.languages = append(f.languages, html.UnescapeString(found[1]))
	}
	return f
}

// boxOffice returns the pages of a theatre with two languages, the address of the details of one ticket, and the fields
// of its form.
func boxOffice(t *testing.T) (*fiber.App, string, url.Values) {
	t.Helper()
	offer := &catalog.Snapshot{
		Slug: "theatre", Name: "Theatre", Currency: "EUR", Timezone: "Europe/Lisbon", DefaultLanguage: "en",
		Languages: []string{"en", "pt"},
		Account:   catalog.Account{SubscriptionActive: true},
	}
	if err := offer.Prepare(); err != nil {
		t.Fatal(err)
	}
	m := meanwhile{known: offer}
	_, app := theatre(t, m, m, sales{m, map[string]string{}})
	typed := url.Values{"n-" + tierID: {"1"}, "total": {"12.00"}, "name": {"Zoë"}, "email": {"zoe@example.com"}}
	return app, "/b/theatre/events/" + galaID + "/details?n-" + tierID + "=1", typed
}

// TestServicesAreListedUnderTheirTranslatedCategory shows that the page translates categories. The public list of
// services does not.
func TestServicesAreListedUnderTheirTranslatedCategory(t *testing.T) {
	t.Parallel()
	offer := &catalog.Snapshot{
		Slug: "theatre", Name: "Theatre", Currency: "EUR", Timezone: "Europe/Lisbon", DefaultLanguage: "en",
		Languages: []string{"en", "pt"},
		Account:   catalog.Account{SubscriptionActive: true},
		Services: []catalog.Service{{ID: uuid.MustParse(cutID),
			Category: catalog.Label{Text: "Hair", Translations: map[string]string{"pt": "Cabelo"}}}},
	}
	if err := offer.Prepare(); err != nil {
		t.Fatal(err)
	}
	m := meanwhile{known: offer}
	_, app := theatre(t, m, m, m)
	for language, want := range map[string]string{"en": "Hair", "pt": "Cabelo", "pt-BR": "Cabelo", "de": "Hair"} {
		if page := ask(t, app, "/b/theatre?lang="+language, nil); !strings.Contains(page.text, "<h2>"+want+"</h2>") {
			t.Errorf("%s: no heading %s: %d %s", language, want, page.status, page.text)
		}
	}
}

func TestGoingBackAndSendingAgainShowsWhatWasBooked(t *testing.T) {
	t.Parallel()
	app, address, typed := boxOffice(t)
	first := ask(t, app, address, nil)
	typed.Set("token", first.token)
	booked := ask(t, app, address, typed)
	if booked.status != http.StatusSeeOther {
		t.Fatalf("nothing is booked: %d %s", booked.status, booked.text)
	}
	back := ask(t, app, address+"&form="+url.QueryEscape(first.token), nil) // as the script does
	typed.Set("token", back.token)
	if again := ask(t, app, address, typed); again.location != booked.location {
		t.Errorf("going back leads to %q, and not to %q", again.location, booked.location)
	}
	other := ask(t, app, address, nil)
	typed.Set("token", other.token)
	if next := ask(t, app, address, typed); next.status != http.StatusSeeOther || next.location == booked.location {
		t.Errorf("another form leads to %d %q", next.status, next.location)
	}
	if invented := ask(t, app, address+"&form=1.made.up", nil); invented.token == "" || invented.token == "1.made.up" {
		t.Errorf("an invented token is shown as %q", invented.token)
	}
}

func TestAnotherLanguageKeepsWhatWasChosenAndTyped(t *testing.T) {
	t.Parallel()
	app, address, typed := boxOffice(t)
	shown := ask(t, app, address+"&form=x", nil)
	if len(shown.languages) != 2 {
		t.Fatalf("languages: %q", shown.languages)
	}
	for i, language := range []string{"en", "pt"} {
		at, err := url.Parse(shown.languages[i])
		if err != nil {
			t.Fatal(err)
		}
		if q := at.Query(); at.Path != "/b/theatre/events/"+galaID+"/details" || q.Get("lang") != language ||
			q.Get("n-"+tierID) != "1" {
			t.Errorf("%s is at %s", language, at)
		}
	}
	typed.Set("token", shown.token)
	typed.Set("stay", "yes")
	typed.Set("email", "zoe@") // an invalid value, as this request does not check it
	pt := ask(t, app, shown.languages[1], typed)
	if pt.status != http.StatusOK || pt.token != shown.token || !strings.Contains(pt.text, `lang="pt"`) ||
		!strings.Contains(pt.text, `value="Zoë"`) || !strings.Contains(pt.text, `value="zoe@"`) {
		t.Errorf("in Portuguese: %d, token %q: %s", pt.status, pt.token, pt.text)
	}
}
