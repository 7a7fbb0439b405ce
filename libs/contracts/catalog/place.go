package catalog

import (
	"strings"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/postal"
)

// The kinds of locations.
const (
	KindPlace           = "place"            // customers come there
	KindLink            = "link"             // an online meeting
	KindPhone           = "phone"            // a telephone call
	KindCustomerAddress = "customer_address" // the business comes to the customer
)

// The values of Calls of a location: who calls at the time of the booking.
const (
	CallsBusiness = "business" // the business calls the telephone number in the booking
	CallsCustomer = "customer" // the customer calls the telephone number of the location
)

// MaxLocationChange is the maximal value of LocationChangeMinutes and of TravelMinutes, in minutes.
const MaxLocationChange = 24 * 60

// Location is where bookings of a business take place.
type Location struct {
	ID   uuid.UUID `json:"id"`
	Key  string    `json:"key"`
	Kind string    `json:"kind"` // one of the Kind… values
	// Name is the name of the location. The default is the name of the business.
	Name    Label          `json:"name"`
	Address postal.Address `json:"address,omitzero"`
	Geo     *Geo           `json:"geo,omitempty"`
	// DirectionsHTML describes how customers find the location, as sanitized HTML.
	DirectionsHTML Label `json:"directions_html,omitzero"`
	// Phone is the telephone number of the location. The default is the number in Contact.
	Phone string `json:"phone,omitempty"`

	// Hours are the opening hours of the location. Null means the hours of the business. Overrides
	// replace the hours on single dates, in order of the dates; see [Snapshot.OpeningOn].
	Hours     *WeekHours    `json:"hours,omitempty"`
	Overrides []DayOverride `json:"overrides,omitempty"`

	// Link is the https URL of a location of the kind [KindLink]. It may contain one of the placeholders
	// {code} and {booking}, which are replaced for each booking.
	Link  string `json:"link,omitempty"`
	Calls string `json:"calls,omitempty"` // for the kind [KindPhone]: [CallsBusiness] or [CallsCustomer]

	// Countries and PostalCodes limit the area of a location of the kind [KindCustomerAddress]. An empty list means
	// no limit. Countries are codes of ISO 3166-1. A postal code that ends with * matches all codes with this prefix.
	Countries   []string `json:"countries,omitempty"`
	PostalCodes []string `json:"postal_codes,omitempty"`
	// TravelMinutes is kept free before and after each booking at a location of the kind [KindCustomerAddress],
	// unless the buffer of the service is longer.
	TravelMinutes int `json:"travel_minutes,omitempty"`
}

// NeedsCustomerPhone reports whether the business calls the customer's
// telephone number at the time of a booking at the location.
func (l *Location) NeedsCustomerPhone() bool { return l.Kind == KindPhone && l.Calls == CallsBusiness }

// StaffLocation holds the working hours of a staff member at one location.
type StaffLocation struct {
	LocationID uuid.UUID `json:"location_id"`
	Hours      WeekHours `json:"hours"`
}

// Geo is a position in degrees (WGS 84).
type Geo struct {
	Lat float64 `json:"lat"`
	Lon float64 `json:"lon"`
}

// Contact holds the contact data of the business, by which customers can reach it. Each field may be empty.
type Contact struct {
	Phone     string `json:"phone,omitempty"`
	Email     string `json:"email,omitempty"`
	Website   string `json:"website,omitempty"`   // http or https URL
	Messenger string `json:"messenger,omitempty"` // http or https URL that opens a chat
}

// Legal holds the legal texts. Each field is either the https URL of
// a page or the legal text itself. [LegalURL] distinguishes URLs from texts.
type Legal struct {
	Imprint Label `json:"imprint,omitzero"`
	Privacy Label `json:"privacy,omitzero"`
	Terms   Label `json:"terms,omitzero"`
}

// Place returns the first location of the kind [KindPlace]. It returns nil if the business has no such location.
func (o *Snapshot) Place() *Location {
	for i := range o.Locations {
		if o.Locations[i].Kind == KindPlace {
			return &o.Locations[i]
		}
	}
	return nil
}

// Phone returns the telephone number that customers call: the number of the place
// or, if the place has none, the number in Contact. It returns "" if neither is set.
func (o *Snapshot) Phone() string {
	if p := o.Place(); p != nil && p.Phone != "" {
		return p.Phone
	}
	return o.Contact.Phone
}

// LegalURL returns the argument `text` if it is a URL, which is a single word that begins with https://.
// It returns "" if `text` is the legal text itself. The manifest permits no invalid URL.
func LegalURL(text string) string {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "https://") || strings.ContainsAny(text, " \t\r\n") {
		return ""
	}
	return text
}
