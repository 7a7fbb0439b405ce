package console_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// technicalText matches text that is only for programs: hints of the validator and paths of the manifest.
var technicalText = regexp.MustCompile(
	`; (write|remove|add|did you|keep)|\w\[\d+\]|line \d+:|payment_requirement|units_count`,
)

// refusedForms has forms with invalid values, each with the German sentence that the page must show.
var refusedForms = []struct {
	path string
	form url.Values
	says string
}{
	{"policies", url.Values{"bookings.advance_days": {"99999"}}, "Bitte eine Zahl von 0 bis "},
	{"policies", url.Values{"bookings.advance_days": {"bald"}}, "Bitte eine ganze Zahl eingeben."},
	{"policies", url.Values{
		"cancellation_policy.n":              {"2"},
		"cancellation_policy.0.hours_before": {"24"}, "cancellation_policy.0.refund_percent": {"50"},
		"cancellation_policy.1.hours_before": {"24"}, "cancellation_policy.1.refund_percent": {"100"},
	}, "„24“ steht hier zweimal."},
	{
		"business", url.Values{"timezone": {"Europe/Lisboa"}},
		"„Europe/Lisboa“ passt hier nicht. Bitte schreiben Sie es wie Europe/Lisbon. Meinten Sie Europe/Lisbon?",
	},
	{"business", url.Values{"currency": {"EURO"}}, "„EURO“ passt hier nicht. Bitte schreiben Sie es wie EUR."},
	{
		"languages", url.Values{"default_language": {"deutsch"}},
		"„deutsch“ passt hier nicht. Bitte schreiben Sie es wie en, pt-BR.",
	},
	{"business", url.Values{"contact.website": {"harbor.example"}}, "„harbor.example“ ist keine Internetadresse."},
	{"page", url.Values{"page.accent": {"#ffff00"}}, "Weiße Schrift ist auf dieser Farbe schlecht zu lesen."},
	{"page", url.Values{"page.accent": {"grün"}}, "„grün“ passt hier nicht. Bitte schreiben Sie es wie #0b6e4f."},
	{
		"page", url.Values{"page.embed_origins": {"https://example.com/shop"}},
		"„https://example.com/shop“ passt hier nicht. Bitte schreiben Sie nur den Anfang der Adresse",
	},
	{
		"page", url.Values{"form.n": {"1"}, "form.0.label": {"Welche?"}, "form.0.type": {"select"}},
		"Füllen Sie dieses Feld aus.",
	},
	{
		"page", url.Values{
			"form.n": {"1"}, "form.0.label": {"Welche?"}, "form.0.type": {"date"}, "form.0.max_length": {"5"},
		},
		"Das lässt sich nicht mit „Art der Antwort“ kombinieren.",
	},
	{
		"notifications", url.Values{"notifications.owner_emails": {"mia"}},
		"„mia“ passt hier nicht. Bitte schreiben Sie es wie name@example.com.",
	},
	{
		"hours", url.Values{"hours.mon.n": {"1"}, "hours.mon.0.from": {"09:00"}, "hours.mon.0.to": {"09:00"}},
		"Diese Zeiten passen nicht.",
	},
	{
		"hours", url.Values{
			"blocks.n": {"1"}, "blocks.0.from": {"2030-01-02T10:00"}, "blocks.0.to": {"2030-01-02T09:00"},
		},
		"Das Ende muss nach dem Beginn liegen.",
	},
	{
		"hours", url.Values{
			"overrides.n": {"2"}, "overrides.0.date": {"2030-01-02"}, "overrides.1.date": {"2030-01-02"},
		},
		"„2030-01-02“ steht hier zweimal.",
	},
	{
		"services/new", url.Values{"name": {strings.Repeat("Haar", 100)}},
		"Dieser Text ist zu lang. Er darf 200 Zeichen haben und hat 400.",
	},
	{"services/new", url.Values{"name": {"Haar\u200bschnitt"}}, "In diesem Text steht ein unsichtbares Zeichen."},
	{"services/new", url.Values{"price": {"viel"}}, "Bitte eine Zahl wie 12,50 eingeben."},
	{"services/new", url.Values{"price": {"12,345"}}, "Zu viele Stellen nach dem Komma. Möglich sind höchstens 2."},
	{"services/new", url.Values{"price": {"9999999999999"}}, "Dieser Betrag ist zu groß."},
	{"services/new", url.Values{"payment_requirement": {"deposit_percent"}}, "Füllen Sie dieses Feld aus."},
	{
		"services/new", url.Values{"payment_requirement": {"deposit_percent"}, "deposit_value": {"120"}},
		"Bitte eine Zahl von 1 bis 100 eingeben.",
	},
	{
		"services/new", url.Values{"payment_requirement": {"deposit_fixed"}, "deposit_value": {"0"}},
		"Bitte eine Zahl über 0 eingeben.",
	},
	{"services/new", url.Values{"deposit_value": {"5"}}, "Das lässt sich nicht mit „Online-Zahlung“ kombinieren."},
	{"services/new", url.Values{"staff": {"nobody"}}, "Was hier gewählt war, gibt es nicht mehr."},
	{"classes/new", url.Values{
		"classes.n": {"1"}, "classes.0.time": {"18:00"}, "classes.0.capacity": {"8"},
	}, "Bitte wählen Sie für jeden Termin einen Wochentag oder ein Datum."},
	{"events/new", url.Values{
		"date": {"2030-01-02"}, "start_time": {"20:00"}, "end_time": {"20:00"}, "total_capacity": {"5"},
	}, "Das Ende muss nach dem Beginn liegen."},
	{
		"rentals/new", url.Values{"price_type": {"daily"}, "min_rental_days": {"5"}, "max_rental_days": {"2"}},
		"Bitte eine Zahl eingeben, die mindestens 5 ist.",
	},
	{
		"rentals/new", url.Values{"price_type": {"daily"}, "units.n": {"1"}, "units.0.key": {"Boot 1"}},
		"„Boot 1“ passt hier nicht. Bitte nur a–z, 0–9 und „-“ verwenden",
	},
	{
		"rules/new", url.Values{"kind": {"first_booking"}},
		"Bitte füllen Sie eines davon aus: Prozent, Betrag, Festpreis.",
	},
	{
		"rules/new", url.Values{"kind": {"first_booking"}, "percent": {"-5"}, "days": {"mon"}},
		"Das lässt sich nicht mit „Art der Regel“ kombinieren.",
	},
	{
		"rules/new", url.Values{"kind": {"seasonal"}, "percent": {"-5"}, "from": {"18:30"}, "to": {"12-24"}},
		"„18:30“ passt hier nicht. Bitte schreiben Sie es wie 12-24, 2026-12-24.",
	},
	{
		"rules/new", url.Values{"kind": {"seasonal"}, "percent": {"-5"}, "from": {"Weihnachten"}, "to": {"12-24"}},
		"„Weihnachten“ passt hier nicht.",
	},
	{"rules/new", url.Values{"kind": {"party_size"}, "percent": {"-5"}}, "Bitte füllen Sie eines davon aus: "},
}

// TestFormsTranslateProblems shows that each invalid value is explained beside its field in the
// language of the reader.
func TestFormsTranslateProblems(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Owner})
	if got := postForm(t, w, "/account/language", mia, url.Values{"language": {"de"}}); got.Status != 303 {
		t.Fatalf("the language: %d %s", got.Status, got.Body)
	}
	for _, c := range refusedForms {
		form := url.Values{"name": {"Neu"}, "duration_minutes": {"30"}, "active": {"yes"}}
		for name, values := range c.form {
			form[name] = values
		}
		got := postForm(t, w, "/business/harbor/offer/"+c.path, mia, form)
		if got.Status != 422 || !strings.Contains(got.Body, c.says) {
			t.Errorf("%s %v: %d, %q is not in %s", c.path, c.form, got.Status, c.says, findErrors(got.Body))
		}
		if strings.Contains(got.Body, "Das kann noch nicht gespeichert werden") {
			t.Errorf("%s %v: the sentence stands beside no field: %s", c.path, c.form, findErrors(got.Body))
		}
		if found := technicalText.FindString(findErrors(got.Body)); found != "" {
			t.Errorf("%s %v: the page shows %q: %s", c.path, c.form, found, findErrors(got.Body))
		}
	}
}

var errorText = regexp.MustCompile(`(?s)<p[^>]*class="[^"]*error[^"]*"[^>]*>(.*?)</p>|<li dir="auto">(.*?)</li>`)

// findErrors returns the error sentences of a page.
func findErrors(body string) string {
	var all []string
	for _, found := range errorText.FindAllStringSubmatch(body, -1) {
		all = append(all, found[1]+found[2])
	}
	return fmt.Sprintf("%q", all)
}
