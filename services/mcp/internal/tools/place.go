package tools

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
)

// resolvePlace replaces the names of the locations, the legal texts and the policy text with their translations
// into the language `code`. It removes the translations, which an answer in one language does not need.
func (i *business) resolvePlace(code string) {
	i.PolicyText = cmp.Or(i.BusinessInfo.PolicyTextTranslations[code], i.PolicyText)
	i.Locations = slices.Clone(i.Locations)
	for n := range i.Locations {
		l := &i.Locations[n]
		l.Name, l.NameTranslations = cmp.Or(l.NameTranslations[code], l.Name), nil
	}
	if i.Legal == nil {
		return
	}
	legal := *i.Legal
	legal.Imprint, legal.ImprintTranslations = cmp.Or(legal.ImprintTranslations[code], legal.Imprint), nil
	legal.Privacy, legal.PrivacyTranslations = cmp.Or(legal.PrivacyTranslations[code], legal.Privacy), nil
	legal.Terms, legal.TermsTranslations = cmp.Or(legal.TermsTranslations[code], legal.Terms), nil
	i.Legal = &legal
}

// limitPlace shortens the texts of the locations, the legal texts and the policy text, so that the answer
// fits into its limit. It leaves out the URL of a page if the URL is too long, because a shortened URL
// would not work. It returns the size of all these fields as JSON, in bytes; 0 if there are none.
func (i *business) limitPlace() int {
	i.PolicyText = clipText(i.PolicyText, maxDescription)
	for n := range i.Locations {
		l := &i.Locations[n]
		l.Name, l.Address.Street, l.Address.City = clipText(l.Name, maxName), clipText(l.Address.Street, maxName),
			clipText(l.Address.City, maxName)
	}
	if i.Contact != nil {
		contact := *i.Contact
		contact.Website, contact.Messenger = limitURL(contact.Website), limitURL(contact.Messenger)
		i.Contact = &contact
	}
	if i.Legal != nil {
		for _, text := range []*string{&i.Legal.Imprint, &i.Legal.Privacy, &i.Legal.Terms} {
			if catalog.LegalURL(*text) != "" {
				*text = limitURL(*text)
			}
			*text = clipText(*text, maxDescription)
		}
	}
	fields, err := json.Marshal(publicapi.BusinessInfo{
		Locations: i.Locations, Contact: i.Contact, Legal: i.Legal, PolicyText: i.PolicyText,
	})
	empty, emptyErr := json.Marshal(publicapi.BusinessInfo{})
	if err != nil || emptyErr != nil {
		return 0 // texts and numbers can always be encoded
	}
	return len(fields) - len(empty)
}

// limitURL returns a URL that fits into maxDescription, or "".
func limitURL(url string) string {
	if clipText(url, maxDescription) != url {
		return ""
	}
	return url
}

// placeVerbs contains the words before the name of a location, by the kind of the location.
var placeVerbs = map[string]string{
	catalog.KindPlace:           "take place at",
	catalog.KindLink:            "can be online meetings:",
	catalog.KindPhone:           "can be telephone calls:",
	catalog.KindCustomerAddress: "can take place at the customer's address:",
}

// placeText returns lines that state where bookings take place, how customers reach
// the business, and the rules of the business. It returns "" if nothing is known.
func (i *business) placeText() string {
	var b strings.Builder
	for _, l := range i.Locations {
		fmt.Fprintf(&b, "\nBookings %s %s", placeVerbs[l.Kind], l.Name)
		if address := l.Address.OneLine(l.Address.Country); address != "" {
			b.WriteString(", " + address)
		}
		if l.Phone != "" {
			b.WriteString(", phone " + l.Phone)
		}
		b.WriteString(".")
	}
	if i.Contact != nil {
		ways := slices.DeleteFunc([]string{i.Contact.Phone, i.Contact.Email, i.Contact.Website, i.Contact.Messenger},
			func(way string) bool { return way == "" })
		b.WriteString("\nContact: " + strings.Join(ways, ", "))
	}
	if i.PolicyText != "" {
		b.WriteString("\nRules for customers: " + i.PolicyText)
	}
	return b.String()
}
