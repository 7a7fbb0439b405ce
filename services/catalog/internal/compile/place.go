package compile

import (
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/values/postal"
)

// setPlace sets the fields of the snapshot for the place of the business and its contact.
func (c *compiler) setPlace(snapshot *catalog.Snapshot) {
	m := c.m
	snapshot.Locations = convertAll(m.Locations, func(l *manifest.Location) catalog.Location {
		return c.location(snapshot, l)
	})
	if m.Contact != nil {
		snapshot.Contact = catalog.Contact{
			Phone: string(m.Contact.Phone), Email: string(m.Contact.Email), Website: string(m.Contact.Website),
			Messenger: string(m.Contact.Messenger),
		}
	}
	if l := m.Legal; l != nil {
		snapshot.Legal = catalog.Legal{
			Imprint: newLabel(l.Imprint, l.Translations, func(t manifest.LegalTranslation) string { return t.Imprint }),
			Privacy: newLabel(l.Privacy, l.Translations, func(t manifest.LegalTranslation) string { return t.Privacy }),
			Terms:   newLabel(l.Terms, l.Translations, func(t manifest.LegalTranslation) string { return t.Terms }),
		}
	}
	snapshot.PolicyText = newLabel(m.PolicyText, m.Translations, func(t manifest.BusinessTranslation) string {
		return t.PolicyText
	})
}

func (c *compiler) location(snapshot *catalog.Snapshot, l *manifest.Location) catalog.Location {
	location := catalog.Location{
		ID: l.ObjectID(c.id), Key: string(l.Key), Kind: l.Kind,
		Name: newLabel(string(l.Name), l.Translations, func(t manifest.LocationTranslation) string {
			return string(t.Name)
		}),
		DirectionsHTML: newLabel(l.DirectionsHTML, l.Translations, func(t manifest.LocationTranslation) string {
			return t.DirectionsHTML
		}),
		Phone:         string(l.Phone),
		Overrides:     compileOverrides(l.Overrides),
		Link:          l.Link,
		Calls:         l.Calls,
		Countries:     convertAll(l.Countries, func(c *manifest.Country) string { return string(*c) }),
		PostalCodes:   convertAll(l.PostalCodes, func(c *manifest.Line) string { return string(*c) }),
		TravelMinutes: l.TravelMinutes,
	}
	if l.Hours != nil {
		location.Hours = new(compileWeek(l.Hours))
	}
	if location.Name.Text == "" {
		location.Name = catalog.Label{Text: snapshot.Name, Translations: snapshot.NameTranslations}
	}
	customersCall := l.Kind == catalog.KindPlace || l.Calls == catalog.CallsCustomer
	if location.Phone == "" && customersCall && c.m.Contact != nil {
		location.Phone = string(c.m.Contact.Phone)
	}
	if a := l.Address; a != nil {
		location.Address = postal.Address{
			Street: string(a.Street), PostalCode: string(a.PostalCode), City: string(a.City),
			Country: string(a.Country),
		}
	}
	if l.Geo != nil {
		location.Geo = &catalog.Geo{Lat: l.Geo.Lat.InexactFloat64(), Lon: l.Geo.Lon.InexactFloat64()}
	}
	return location
}

// newLabel returns a text with its translations.
func newLabel[T any](written string, translations map[manifest.Language]T, in func(T) string) catalog.Label {
	return catalog.Label{Text: written, Translations: translationsOf(translations, in)}
}
