package tools

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
)

func TestLimitCountsOmittedQuestions(t *testing.T) {
	t.Parallel()
	ask := func(questions, options int) *business {
		b := &business{}
		for i := range questions {
			q := question{Question: publicapi.Question{Key: fmt.Sprint("q", i), Label: strings.Repeat("long ", 30),
				Type: "select", Required: i == questions-1}}
			for n := range options {
				q.Options = append(q.Options, publicapi.QuestionOption{Key: fmt.Sprint("o", n), Label: "Option"})
			}
			b.Form = append(b.Form, q)
		}
		b.limit()
		return b
	}
	many := ask(50, 2)
	if many.FormTotal != 50 || len(many.Form) == 0 || len(many.Form) == 50 || many.Form[0].Key != "q49" {
		t.Errorf("%d questions of %d, the first %s", len(many.Form), many.FormTotal, many.Form[0].Key)
	}
	if want := fmt.Sprintf("\n%d questions are left out here", 50-len(many.Form)); !strings.Contains(many.text(),
		want) {
		t.Errorf("the text lacks %q: %s", want, many.text())
	}
	long := ask(1, maxOptions+5)
	if len(long.Form) != 1 || long.Form[0].OptionsTotal != maxOptions+5 || !strings.Contains(long.text(),
		" and 5 more") {
		t.Errorf("%+v: %s", long.Form, long.text())
	}
	if few := ask(2, 2); few.FormTotal != 0 || few.Form[0].OptionsTotal != 0 || strings.Contains(few.text(),
		"left out") {
		t.Errorf("%+v: %s", few, few.text())
	}
}

func TestPlaceTextNamesKindOfLocation(t *testing.T) {
	t.Parallel()
	i := &business{}
	i.Locations = []publicapi.Location{{Kind: catalog.KindPlace, Name: "Quay"}, {Kind: catalog.KindLink, Name: "Video"},
		{Kind: catalog.KindPhone, Name: "Call us", Phone: "+351 21"}}
	want := "\nBookings take place at Quay.\nBookings can be online meetings: Video." +
		"\nBookings can be telephone calls: Call us, phone +351 21."
	if got := i.placeText(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
