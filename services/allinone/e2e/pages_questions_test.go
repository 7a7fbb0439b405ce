package e2e

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// questions are questions for buyers of tickets, for rentals of a kayak, of a vest and of a bike, and one for all
// customers.
const questions = `form:
  - {key: meal, label: Your meal, type: select, required: true, events: [gala], options: [{key: fish, label: Fish}, {key: none, label: None}]}
  - {key: swims, label: I can swim, type: checkbox, required: true, rentals: [kayak]}
  - {key: weight, label: Your weight, type: number, rentals: [vest]}
  - {key: size, label: Height of the saddle, type: number, rentals: [bike]}
  - {key: news, label: Write to me, type: checkbox, consent: true}
`

// listAnswers returns form_data and phone of each item in an owner's list.
func (w *platform) listAnswers(t *testing.T, slug, of string) []map[string]any {
	t.Helper()
	var list map[string][]struct {
		Phone string         `json:"customer_phone"`
		Form  map[string]any `json:"form_data"`
	}
	w.callAdmin(t, http.MethodGet, "businesses/"+slug+"/"+of, nil).decode(t, http.StatusOK, &list)
	var forms []map[string]any
	for _, sale := range list[of] {
		sale.Form["phone"] = sale.Phone
		forms = append(forms, sale.Form)
	}
	return forms
}

// TestTicketAndRentalFormsAskQuestions checks that the forms of tickets and rentals ask the business's questions about
// the chosen items. The forms keep the answers after an error and store them for the owner.
func TestTicketAndRentalFormsAskQuestions(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "questions-theatre", buildTheatre("questions-theatre", 12, 10, 10, 1)+
		strings.Join(strings.Split(questions, "\n")[:2],
			"\n")+"\n  - {key: news, label: Write to me, type: checkbox, consent: true}\n")
	w.publish(t, "questions-shed", buildShed("questions-shed")+strings.Replace(questions,
		strings.Split(questions, "\n")[1]+
			"\n", "", 1))
	_, event := w.followLink(t, w.browse(t, w.PublicURL+"/b/questions-theatre/events", nil),
		"/b/questions-theatre/events/")
	gala := w.listEvents(t, "questions-theatre/events").Events[0].ID
	kayak := w.idsByName(t, "questions-shed", "rentals")["Kayak"]
	for _, c := range []struct {
		slug, at, of   string
		asked, unasked []string
		wrong, right   url.Values
		says           string
		kept           map[string]any
	}{
		{
			"questions-theatre", "/events/" + gala + "/details?" + event.findTierField(t, "Stalls") + "=1", "tickets",
			[]string{"Your meal", "Write to me"}, nil,
			url.Values{"q-meal": {""}}, url.Values{"q-meal": {"fish"}, "q-news": {"yes"}}, "This answer is required.",
			map[string]any{"phone": "+351 210 000 001", "meal": "fish", "_consent": map[string]any{"news": true}},
		},
		{
			"questions-shed", "/rentals/" + kayak + "/details?from=2027-03-02&start=10:00&for=2", "reservations",
			[]string{"I can swim", "Your weight", "Write to me"}, []string{"saddle"},
			url.Values{"q-weight": {"80"}}, url.Values{"q-swims": {"yes"}, "q-weight": {"80"}, "q-size": {"1"}}, "Tick this box",
			map[string]any{"phone": "+351 210 000 001", "swims": true, "weight": 80.0, "_consent": map[string]any{"news": false}},
		},
	} {
		at := w.PublicURL + "/b/" + c.slug + c.at
		page := w.browse(t, at, nil)
		page.checkPage(t, c.slug, http.StatusOK, c.asked...)
		for _, no := range c.unasked {
			if strings.Contains(page.text, no) {
				t.Errorf("%s asks for %s", c.slug, no)
			}
		}
		filled := func(page pageAnswer, answers url.Values) url.Values {
			form := page.fillForm(t, contactForm)
			for name, values := range answers {
				form[name] = values
			}
			return form
		}
		second := w.browse(t, at, filled(page, c.wrong))
		second.checkPage(t, c.slug+", not answered", http.StatusUnprocessableEntity, c.says)
		second.checkInputKept(t)
		if done := w.browse(t, at, filled(second, c.right)); done.status != http.StatusSeeOther {
			t.Fatalf("%s: %d %s", c.slug, done.status, done.text)
		}
		if diff := cmp.Diff([]map[string]any{c.kept}, w.listAnswers(t, c.slug, c.of)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.slug, diff)
		}
		var data json.RawMessage
		w.callAdmin(t, http.MethodGet, "businesses/"+c.slug+"/customers/export?email=zoe@example.com", nil).decode(t,
			http.StatusOK, &data)
		if !strings.Contains(string(data), `+351 210 000 001`) || !strings.Contains(string(data), `"_consent":`) {
			t.Errorf("the export of %s is %s", c.slug, data)
		}
	}
}
