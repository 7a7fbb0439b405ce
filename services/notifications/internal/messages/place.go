package messages

import (
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/services/notifications/internal/letter"
)

// newBusiness returns the business of a message, with the current place and the current legal texts.
func (m *Messages) newBusiness(offer *catalog.Snapshot, region string) letter.Business {
	b := letter.Business{
		Name: offer.Name, Names: offer.NameTranslations, Language: offer.DefaultLanguage, Region: region,
		Zone: offer.Location(), ReplyTo: offer.Notifications.ReplyTo, From: m.From, Accent: offer.Page.Accent,
		Phone: offer.Phone(), Imprint: newNote(offer.Legal.Imprint), Privacy: newNote(offer.Legal.Privacy),
		Policy: newNote(offer.PolicyText),
	}
	place := offer.Place()
	if place == nil {
		return b
	}
	b.Place = &letter.Place{Name: newNote(place.Name), Address: place.Address, Phone: offer.Phone(),
		DirectionsHTML: newNote(place.DirectionsHTML)}
	if place.Geo != nil {
		b.Place.Geo = &letter.Geo{Lat: place.Geo.Lat, Lon: place.Geo.Lon}
	}
	return b
}

func newNote(l catalog.Label) letter.Note {
	return letter.Note{Text: l.Text, Translations: l.Translations}
}
