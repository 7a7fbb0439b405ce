package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// addAnswers returns a reservation with a phone number and with answers to the form.
func addAnswers(n rental.NewReservation, form string) rental.NewReservation {
	n.CustomerPhone, n.FormData = new("+351 210 555 019"), json.RawMessage(form)
	return n
}

// addQuestions sets a form. It requires a text about each of kayak, bike and tent from customers that take it. Each
// customer may consent to messages.
func addQuestions(o *catalog.Snapshot) {
	text := func(key string, of string, required bool) catalog.Question {
		return catalog.Question{Key: key, Type: catalog.QuestionText, MaxLength: 20, Required: required,
			RentalIDs: []uuid.UUID{uuid.MustParse(of)}}
	}
	o.Form = []catalog.Question{
		text("level", kayak, true), text("size", bike, true), text("pegs", tent, true),
		{Key: "news", Type: catalog.QuestionCheckbox, Consent: true},
	}
	for i := range o.Rentals {
		if o.Rentals[i].ID.String() == kayak {
			o.Rentals[i].Upsells = []catalog.Upsell{{RentalID: uuid.MustParse(bike)}}
		}
	}
}

func TestPageReservationAnswersQuestions(t *testing.T) {
	t.Parallel()
	s := startForCustomers(t)
	s.edit(addQuestions)
	alone := newPageRequest(kayak, 1, "2027-06-11", "2027-06-11", "10:00", "12:00")
	both := addExtra(alone, bike, 1)
	for name, n := range map[string]rental.NewReservation{
		"no answer":                  alone,
		"none about what goes along": addAnswers(both, `{"level": "new"}`),
		"too long":                   addAnswers(alone, `{"level": "a very, very long answer"}`),
		"no object":                  addAnswers(alone, `"new"`),
		"more than is kept":          addAnswers(alone, `{"level": "new", "x": "`+strings.Repeat("x", 64<<10)+`"}`),
		"a phone number on two lines": func() rental.NewReservation {
			n := addAnswers(alone, `{"level": "new"}`)
			n.CustomerPhone = new("1\n2")
			return n
		}(),
		"a phone number of too many letters": func() rental.NewReservation {
			n := addAnswers(alone, `{"level": "new"}`)
			n.CustomerPhone = new(strings.Repeat("1", 51))
			return n
		}(),
	} {
		if _, err := s.reserveAs(actor.Page, "", n); !fault.Is(err, fault.InvalidParameter) {
			t.Errorf("%s: %v", name, err)
		}
	}
	const sent = `{"level": "new", "size": "XL", "pegs": "nobody asks", "news": true, "_consent": {"news": true, "gone": true}}`
	for _, c := range []struct {
		by   actor.Kind
		n    rental.NewReservation
		want string
	}{
		{actor.Page, alone, `{"level": "new", "_consent": {"news": true}}`},
		{actor.Page, both, `{"level": "new", "size": "XL", "_consent": {"news": true}}`},
		// Only the customer can consent.
		{actor.Owner, alone, `{"level": "new", "size": "XL", "pegs": "nobody asks", "news": true}`},
	} {
		reservation, err := s.reserveAs(c.by, "", addAnswers(c.n, sent))
		if err != nil {
			t.Fatal(err)
		}
		stored, err := s.client.Reservation(t.Context(), "harbor", reservation.ID)
		if err != nil || stored.CustomerPhone == nil || *stored.CustomerPhone != "+351 210 555 019" {
			t.Fatalf("stored %+v, %v", stored, err)
		}
		if diff := cmp.Diff(decodeObject(t, c.want), decodeObject(t, string(stored.FormData))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.by, diff)
		}
	}
	if plain, err := s.reserveAs(actor.Owner, "", newPageRequest(kayak, 1, "2027-06-12", "2027-06-12")); err != nil ||
		string(plain.FormData) != "{}" || plain.CustomerPhone != nil {
		t.Errorf("a reservation by the owner without answers: %+v, %v", plain, err)
	}
}

func decodeObject(t *testing.T, object string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(object), &m); err != nil {
		t.Fatal(err)
	}
	return m
}
