package view

import (
	"strconv"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// wrong returns the text that the page shows for a field error.
func (p *Page) wrong(w catalog.Wrong) string {
	switch w {
	case "":
		return ""
	case catalog.WrongMissing:
		return p.Words.Say("fill")
	case catalog.WrongUnticked:
		return p.Words.Say("tick")
	case usecase.WrongEmail:
		return p.Words.Say("email_wrong")
	case catalog.WrongPhone:
		return p.Words.Say("phone_wrong")
	default: // all other errors have the same text
	}
	return p.Words.Say("answer_wrong")
}

// contact returns the fields for the customer's name, e-mail address and phone number, which every form has.
func (p *Page) contact(f Form) []web.Field {
	d, optional := f.Details, p.Words.Say("optional")
	return []web.Field{
		{Name: "name", Label: p.Words.Say("name"), Value: d.Name, Autocomplete: "name", Required: true, MaxLength: 200,
			Error: p.wrong(f.Wrong["name"])},
		{Name: "email", Label: p.Words.Say("email"), Value: d.Email, Type: "email", Autocomplete: "email",
			Required: true, MaxLength: 254, Error: p.wrong(f.Wrong["email"])},
		{Name: "phone", Label: p.Words.Say("phone"), Value: d.Phone, Type: "tel", Autocomplete: "tel",
			Optional: optional, MaxLength: 50, Error: p.wrong(f.Wrong["phone"])},
	}
}

// party returns the form field for the number of people.
func (p *Page) party(a *usecase.Appointment, f Form) web.Field {
	field := web.Field{Name: "people", Label: p.Words.Say("people"), Value: strconv.Itoa(f.Details.People)}
	for n := 1; n <= MostPeople(a); n++ {
		field.Options = append(field.Options, web.Option{Value: strconv.Itoa(n), Label: p.Words.Number(n)})
	}
	return field
}

// language returns the form field for the language of messages to the customer.
func (p *Page) language(f Form) web.Field {
	field := web.Field{Name: "language", Label: p.Words.Say("messages_in"), Value: f.Details.Language}
	for _, language := range p.Business.Offer.Languages {
		field.Options = append(field.Options, web.Option{Value: language, Label: words.NameOf(language)})
	}
	return field
}

// question returns the form field for a question that the business asks its customers.
func (p *Page) question(q catalog.Question, f Form) web.Field {
	name := "q-" + q.Key
	field := web.Field{
		Name: name, Label: q.Label.In(p.spoken()), Value: f.Typed.Get(name), Required: q.Required,
		MaxLength: q.MaxLength,
		Optional:  p.Words.Say("optional"), Error: p.wrong(f.Wrong[name]), Type: map[string]string{
			catalog.QuestionDate: "date", catalog.QuestionPhone: "tel",
		}[q.Type],
	}
	if q.Type == catalog.QuestionSelect {
		field.Options = []web.Option{{}}
		for _, o := range q.Options {
			field.Options = append(field.Options, web.Option{Value: o.Key, Label: o.Label.In(p.spoken())})
		}
	}
	return field
}

// spoken returns the language of the business that is nearest to the reader's language.
func (p *Page) spoken() string { return p.Business.Language(p.Words.Requested) }

// called returns the name of the business in the language of [Page.spoken].
func (p *Page) called() string { return p.Business.Offer.NameIn(p.spoken()) }
