package messages

import (
	"cmp"
	"strings"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/services/notifications/internal/letter"
	"github.com/slotmesh/slotmesh/services/notifications/internal/plan"
)

// newBusiness returns the business of a message, with the current place and the current legal texts.
func (m *Messages) newBusiness(offer *catalog.Snapshot, region string) letter.Business {
	b := letter.Business{
		Name: offer.Name, Names: offer.NameTranslations, Language: offer.DefaultLanguage, Region: region,
		Zone: offer.Location(), ReplyTo: offer.Notifications.ReplyTo, From: m.From, Accent: offer.Page.Accent,
		Phone: offer.Phone(), Imprint: newNote(offer.Legal.Imprint), Privacy: newNote(offer.Legal.Privacy),
		Policy: newNote(offer.PolicyText),
	}
	if place := offer.Place(); place != nil {
		b.Place = newPlace(offer, place)
	}
	return b
}

// newPlace returns a location of the business as a letter shows it. The link to an online meeting is not set.
func newPlace(offer *catalog.Snapshot, l *catalog.Location) *letter.Place {
	place := &letter.Place{Name: newNote(l.Name), Address: l.Address, DirectionsHTML: newNote(l.DirectionsHTML)}
	switch l.Kind {
	case catalog.KindPlace:
		place.Phone = cmp.Or(l.Phone, offer.Contact.Phone)
	case catalog.KindPhone:
		place.IsCall = true
		if l.Calls == catalog.CallsCustomer {
			place.Phone = cmp.Or(l.Phone, offer.Contact.Phone)
		}
	}
	if l.Geo != nil {
		place.Geo = &letter.Geo{Lat: l.Geo.Lat, Lon: l.Geo.Lon}
	}
	return place
}

// newBookedPlace returns the place of a booking with the current address of its location. If the business no
// longer has the location, the place has only the name at the time of the sale.
func newBookedPlace(offer *catalog.Snapshot, b *booking.Booking) *letter.Place {
	at := b.Location
	if at == nil {
		return nil
	}
	place := &letter.Place{Name: letter.Note{Text: at.Name}}
	if l := offer.FindLocation(at.ID); l != nil {
		place = newPlace(offer, l)
	}
	if a := b.CustomerAddress; a != nil {
		place.Address, place.AddressNote, place.IsAtCustomer = a.Address, a.Note, true
	}
	place.Link = at.Link
	place.AwaitsLink = at.Kind == catalog.KindLink && at.Link == "" && b.Status == booking.StatusPending
	return place
}

// newSoldPlace returns the place of a ticketed event or a rental. It returns nil if all customers come to one place.
// Only a valid sale shows the link to an online meeting. A link with a placeholder is for one booking, so that no
// ticket shows it.
func newSoldPlace(offer *catalog.Snapshot, l *catalog.Location, status string) *letter.Place {
	if l == nil || !offer.HasLocations() {
		return nil
	}
	place := newPlace(offer, l)
	if l.Kind == catalog.KindLink && !strings.Contains(l.Link, "{") {
		if status == booking.StatusSold {
			place.Link = l.Link
		}
		place.AwaitsLink = status == booking.StatusPending
	}
	return place
}

// findFormerPlace returns the name of the location before a relocation. Nil stands for the location of
// bookings without a stored location.
func findFormerPlace(offer *catalog.Snapshot, was *plan.Location, language string) string {
	l := offer.UnstoredLocation()
	if was != nil {
		l = offer.FindLocation(was.ID)
	}
	if l != nil {
		return l.Name.In(language)
	}
	if was != nil {
		return was.Name
	}
	return ""
}

func newNote(l catalog.Label) letter.Note {
	return letter.Note{Text: l.Text, Translations: l.Translations}
}
