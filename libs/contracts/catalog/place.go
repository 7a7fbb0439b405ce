package catalog

import (
	"strings"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/postal"
)

// KindPlace is the kind of a location to which customers come.
const KindPlace = "place"

// Location is where the bookings of a business take place.
type Location struct {
	ID   uuid.UUID `json:"id"`
	Key  string    `json:"key"`
	Kind string    `json:"kind"` // KindPlace
	// Name is the name of the location. The default is the name of the business.
	Name    Label          `json:"name"`
	Address postal.Address `json:"address,omitzero"`
	Geo     *Geo           `json:"geo,omitempty"`
	// DirectionsHTML describes how customers find the location, as sanitized HTML.
	DirectionsHTML Label `json:"directions_html,omitzero"`
	// Phone is the telephone number of the location. The default is the number in Contact.
	Phone string `json:"phone,omitempty"`
}

// Geo is a position in degrees (WGS 84).
type Geo struct {
	Lat float64 `json:"lat"`
	Lon float64 `json:"lon"`
}

// Contact holds how customers reach the business. Each field may be empty.
type Contact struct {
	Phone     string `json:"phone,omitempty"`
	Email     string `json:"email,omitempty"`
	Website   string `json:"website,omitempty"`   // http or https address
	Messenger string `json:"messenger,omitempty"` // http or https address that opens a chat
}

// Legal holds the legal texts. Each is the https address of a page or the text itself, which [LegalURL] distinguishes.
type Legal struct {
	Imprint Label `json:"imprint,omitzero"`
	Privacy Label `json:"privacy,omitzero"`
	Terms   Label `json:"terms,omitzero"`
}

// Place returns the place of the business, or nil if the business has none.
func (o *Snapshot) Place() *Location {
	for i := range o.Locations {
		if o.Locations[i].Kind == KindPlace {
			return &o.Locations[i]
		}
	}
	return nil
}

// Phone returns the number that customers call: that of the place, or that in Contact. It may be "".
func (o *Snapshot) Phone() string {
	if p := o.Place(); p != nil && p.Phone != "" {
		return p.Phone
	}
	return o.Contact.Phone
}

// LegalURL returns the address of the page to which a legal text links. It returns "" if the text is the legal text
// itself. A text is an address if it is one word that begins with https://; the manifest permits no invalid address.
func LegalURL(text string) string {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "https://") || strings.ContainsAny(text, " \t\r\n") {
		return ""
	}
	return text
}
