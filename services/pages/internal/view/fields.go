package view

import (
	"slices"
	"strconv"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/libs/values/postal"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// errorText returns the text that the page shows for a field error.
func (p *Page) errorText(w catalog.FieldError) string {
	switch w {
	case "":
		return ""
	case catalog.FieldMissing:
		return p.Words.Say("fill")
	case catalog.FieldUnticked:
		return p.Words.Say("tick")
	case usecase.FieldErrorEmail:
		return p.Words.Say("email_wrong")
	case usecase.FieldErrorOutsideArea:
		return p.Words.Say("outside_area")
	case catalog.FieldInvalidPhone:
		return p.Words.Say("phone_wrong")
	default: // all other errors have the same text
	}
	return p.Words.Say("answer_wrong")
}

// contactError returns the text for an error in the field of the name or of the e-mail address. The argument `missing`
// is the id of the text for an empty field.
func (p *Page) contactError(w catalog.FieldError, missing string) string {
	if w == catalog.FieldMissing {
		return p.Words.Say(missing)
	}
	return p.errorText(w)
}

// ErrorNotice returns the sentence that names the fields with errors. The argument `itemIDs` contains the ids of the
// ordered services, events or rentals.
func (p *Page) ErrorNotice(f Form, itemIDs ...uuid.UUID) string {
	var names []string
	for _, field := range p.contactFields(f) {
		if field.Error != "" {
			names = append(names, field.Label)
		}
	}
	if f.Errors["country"] != "" && hasCountryChoice(f) {
		names = append(names, p.Words.Say("country"))
	}
	for _, q := range p.Business.Snapshot.Questions(itemIDs...) {
		if f.Errors["q-"+q.Key] != "" {
			names = append(names, q.Label.In(p.readerLanguage()))
		}
	}
	return p.Words.With("check", "Fields", p.Words.JoinList(names))
}

// contactFields returns the fields for the customer's name, e-mail address and phone number, which every form has. If
// the business comes to the customer, the fields for the address follow.
func (p *Page) contactFields(f Form) []web.Field {
	d, optional := f.Details, p.Words.Say("optional")
	fields := []web.Field{
		{Name: "name", Label: p.Words.Say("name"), Value: d.Name, Autocomplete: "name", Required: true, MaxLength: 200,
			Error: p.contactError(f.Errors["name"], "fill_name")},
		{Name: "email", Label: p.Words.Say("email"), Value: d.Email, Type: "email", Autocomplete: "email",
			Required: true, MaxLength: 254, Error: p.contactError(f.Errors["email"], "fill_email")},
		{Name: "phone", Label: p.Words.Say("phone"), Value: d.Phone, Type: "tel", Autocomplete: "tel",
			Required: d.NeedsPhone, Optional: optional, MaxLength: 50, Error: p.errorText(f.Errors["phone"])},
	}
	if d.AddressAt == nil {
		return fields
	}
	return append(fields,
		web.Field{Name: "street", Label: p.Words.Say("street"), Value: d.Address.Street, Autocomplete: "address-line1",
			Required: true, MaxLength: 200, Error: p.errorText(f.Errors["street"])},
		web.Field{Name: "postal_code", Label: p.Words.Say("postal_code"), Value: d.Address.PostalCode,
			Autocomplete: "postal-code", Required: len(d.AddressAt.PostalCodes) > 0, Optional: optional, MaxLength: 200,
			Error: p.errorText(f.Errors["postal_code"])},
		web.Field{Name: "city", Label: p.Words.Say("city"), Value: d.Address.City, Autocomplete: "address-level2",
			Required: true, MaxLength: 200, Error: p.errorText(f.Errors["city"])},
		web.Field{Name: "note", Label: p.Words.Say("address_note"), Value: d.Address.Note, Optional: optional,
			MaxLength: 200, Error: p.errorText(f.Errors["note"])},
	)
}

// hasCountryChoice reports whether the form asks for the country of the customer's address.
func hasCountryChoice(f Form) bool {
	return f.Details.AddressAt != nil && len(f.Details.AddressAt.Countries) != 1
}

// countryField returns the form field for the country of the customer's address. If the form has no valid country yet,
// the first option is empty, so that the customer chooses.
func (p *Page) countryField(f Form) web.Field {
	codes := f.Details.AddressAt.Countries
	if len(codes) == 0 {
		codes = postal.Countries()
	}
	field := web.Field{Name: "country", Label: p.Words.Say("country"), Value: f.Details.Address.Country,
		Autocomplete: "country", Required: true, Error: p.errorText(f.Errors["country"])}
	for _, code := range codes {
		field.Options = append(field.Options, web.Option{Value: code, Label: p.Words.Country(code)})
	}
	words.SortByName(field.Options, func(o web.Option) string { return o.Label })
	if !slices.Contains(codes, field.Value) {
		field.Options = slices.Insert(field.Options, 0, web.Option{})
	}
	return field
}

// peopleField returns the form field for the number of people.
func (p *Page) peopleField(a *usecase.Appointment, f Form) web.Field {
	field := web.Field{Name: "people", Label: p.Words.Say("people"), Value: strconv.Itoa(f.Details.People)}
	for n := 1; n <= MaxPeople(a); n++ {
		field.Options = append(field.Options, web.Option{Value: strconv.Itoa(n), Label: p.Words.Number(n)})
	}
	return field
}

// languageField returns the form field for the language of messages to the customer.
func (p *Page) languageField(f Form) web.Field {
	field := web.Field{Name: "language", Label: p.Words.Say("messages_in"), Value: f.Details.Language}
	for _, language := range p.Business.Snapshot.Languages {
		field.Options = append(field.Options, web.Option{Value: language, Label: words.NameOf(language)})
	}
	return field
}

// questionField returns the form field for a question that the business asks its customers.
func (p *Page) questionField(q catalog.Question, f Form) web.Field {
	name := "q-" + q.Key
	field := web.Field{
		Name: name, Label: q.Label.In(p.readerLanguage()), Value: f.Fields.Get(name), Required: q.Required,
		MaxLength: q.MaxLength,
		Optional:  p.Words.Say("optional"), Error: p.errorText(f.Errors[name]), Type: map[string]string{
			catalog.QuestionDate: "date", catalog.QuestionPhone: "tel",
		}[q.Type],
	}
	if q.Type == catalog.QuestionSelect {
		field.Options = []web.Option{{}}
		for _, o := range q.Options {
			field.Options = append(field.Options, web.Option{Value: o.Key, Label: o.Label.In(p.readerLanguage())})
		}
	}
	return field
}

// readerLanguage returns the language of the business that is nearest to the reader's language.
func (p *Page) readerLanguage() string { return p.Business.Language(p.Words.Requested) }

// businessName returns the name of the business in the language of [Page.readerLanguage].
func (p *Page) businessName() string { return p.Business.Snapshot.NameIn(p.readerLanguage()) }
