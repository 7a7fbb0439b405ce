package manifest

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/text/language"

	"github.com/slotmesh/slotmesh/libs/values/phone"
	"github.com/slotmesh/slotmesh/libs/values/postal"
)

// Location is where the bookings of the business take place.
type Location struct {
	// Its name in this document, unique in its list: a-z, 0-9 and -.
	Key Key `json:"key"`
	// Its public id; left out, it follows from the key.
	ID *ID `json:"id,omitzero"`
	// The kind of location: place (customers come there), link (an online meeting), phone (a telephone call) or
	// customer_address (the business comes to the customer).
	Kind string `json:"kind" jsonschema:"enum=place,enum=link,enum=phone,enum=customer_address"`
	// Name shown to customers. Default: the business's name.
	Name Line `json:"name,omitzero" jsonschema:"maxLength=200"`
	// Postal address. Only for kind place.
	Address *Address `json:"address,omitzero"`
	// Position on a map. Only for kind place.
	Geo *Geo `json:"geo,omitzero"`
	// How customers find the place, such as the entrance or where to park, in simple HTML.
	DirectionsHTML string `json:"directions_html,omitzero" jsonschema:"maxLength=5000"`
	// Telephone number of the location. Default: that of contact.
	Phone Phone `json:"phone,omitzero"`
	// Opening hours of the location, in business time. Default: the business's hours.
	Hours *WeekHours `json:"hours,omitzero"`
	// Dates on which the opening hours of the location differ. An override of the business that closes a date also
	// closes the location, unless the location has an override for the date.
	Overrides []DayOverride `json:"overrides,omitzero" jsonschema:"maxItems=10000"`
	// The https address of the meeting, at most 200 characters long. Required for kind link. It may contain one
	// placeholder: {code} becomes 26 random letters and digits, {booking} the id of the booking.
	Link string `json:"link,omitzero" jsonschema:"maxLength=200"`
	// Caller at the time of the booking. Required for kind phone. The value customer needs a telephone number.
	Calls string `json:"calls,omitzero" jsonschema:"enum=business,enum=customer"`
	// Countries that are served, as ISO 3166-1 codes. Only for kind customer_address; default: all.
	Countries []Country `json:"countries,omitzero" jsonschema:"minItems=1,maxItems=250"`
	// Postal codes that are served. 10* stands for all that begin with 10. Only for kind customer_address; default: all.
	PostalCodes []Line `json:"postal_codes,omitzero" jsonschema:"minItems=1,maxItems=5000,maxLength=20"`
	// Minutes of travel before and after each booking. Only the longer of this time and the buffer counts. Only for
	// kind customer_address; default 0.
	TravelMinutes int `json:"travel_minutes,omitzero" jsonschema:"minimum=0,maximum=1440"`
	// The texts in other languages, by language.
	Translations map[Language]LocationTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// LocationTranslation holds a location's texts in one language. A text left out falls back to the default language.
type LocationTranslation struct {
	// Name shown to customers.
	Name Line `json:"name,omitzero" jsonschema:"maxLength=200"`
	// How customers find the place, in simple HTML.
	DirectionsHTML string `json:"directions_html,omitzero" jsonschema:"maxLength=5000"`
}

// Address is a postal address. It has at least one of its parts.
type Address struct {
	// Street and house number.
	Street Line `json:"street,omitzero" jsonschema:"maxLength=200"`
	// Postal code.
	PostalCode Line `json:"postal_code,omitzero" jsonschema:"maxLength=20"`
	// Town or city.
	City Line `json:"city,omitzero" jsonschema:"maxLength=200"`
	// ISO 3166-1 code of two letters, such as PT.
	Country Country `json:"country,omitzero"`
}

// Geo is a position in degrees (WGS 84).
type Geo struct {
	// Latitude, north positive.
	Lat Decimal `json:"lat" jsonschema:"minimum=-90,maximum=90"`
	// Longitude, east positive.
	Lon Decimal `json:"lon" jsonschema:"minimum=-180,maximum=180"`
}

// Contact holds how customers reach the business.
type Contact struct {
	// Telephone number.
	Phone Phone `json:"phone,omitzero"`
	// Email address that customers see.
	Email Email `json:"email,omitzero"`
	// Address of the business's own website.
	Website URL `json:"website,omitzero"`
	// Address that opens a chat with the business, such as https://wa.me/351210000000.
	Messenger URL `json:"messenger,omitzero"`
}

// Legal holds the legal texts of the business. Each is the https address of a page, or the text itself in plain text.
type Legal struct {
	// The imprint: the person or company that is responsible for the business.
	Imprint string `json:"imprint,omitzero" jsonschema:"maxLength=20000"`
	// How the business protects customers' data.
	Privacy string `json:"privacy,omitzero" jsonschema:"maxLength=20000"`
	// Terms of business.
	Terms string `json:"terms,omitzero" jsonschema:"maxLength=20000"`
	// The addresses or texts in other languages, by language.
	Translations map[Language]LegalTranslation `json:"translations,omitzero" jsonschema:"maxProperties=100"`
}

// LegalTranslation holds the legal texts in one language. A text left out falls back to the default language.
type LegalTranslation struct {
	// The imprint: the person or company that is responsible for the business.
	Imprint string `json:"imprint,omitzero" jsonschema:"maxLength=20000"`
	// How the business protects customers' data.
	Privacy string `json:"privacy,omitzero" jsonschema:"maxLength=20000"`
	// Terms of business.
	Terms string `json:"terms,omitzero" jsonschema:"maxLength=20000"`
}

// Phone is a telephone number that customers can read and call.
type Phone string

// UnmarshalText parses the numbers that [phone.Valid] accepts.
func (p *Phone) UnmarshalText(b []byte) error {
	if s := string(b); !phone.Valid(s) {
		return fmt.Errorf("%s is not a telephone number; write one such as +351 21 000 0000, at most %d characters",
			quote(s), phone.MaxLength)
	}
	*p = Phone(b)
	return nil
}

// Country is a code of ISO 3166-1 alpha-2 in upper case.
type Country string

// UnmarshalText parses the codes that [postal.IsCountry] accepts.
func (c *Country) UnmarshalText(b []byte) error {
	s := string(b)
	if !postal.IsCountry(s) {
		near := nearestCountry(s)
		return &suggestion{fmt.Sprintf("%s is not an ISO 3166-1 country code; %s", quote(s),
			hintAt(near, "write one of two letters, such as PT")), near}
	}
	*c = Country(s)
	return nil
}

// nearestCountry returns the country code that the author probably meant by the invalid text `got`. It recognizes
// codes in lower case, codes of three letters or digits, and common errors such as UK. It returns "" for other texts.
func nearestCountry(got string) string {
	if region, err := language.ParseRegion(got); err == nil && postal.IsCountry(region.Canonicalize().String()) {
		return region.Canonicalize().String()
	}
	return ""
}

// maxGeoDecimals is the maximal number of decimals of a coordinate.
// One unit of the seventh decimal is about one centimetre on the ground.
const maxGeoDecimals = 7

func (v *validator) checkLocations(at *path) {
	checkUnique(v, at, v.m.Locations, "key", func(l *Location) Key { return l.Key })
	for i := range v.m.Locations {
		l, here := &v.m.Locations[i], at.item(i)
		v.recordID(here.field("id"), l.ID, l.ObjectID(v.business))
		v.checkLocationKind(here, l)
		v.checkOverrides(here.field("overrides"), l.Overrides)
		v.checkAddress(here.field("address"), l.Address)
		if l.Geo != nil {
			v.checkCoordinate(here.field("geo").field("lat"), l.Geo.Lat)
			v.checkCoordinate(here.field("geo").field("lon"), l.Geo.Lon)
		}
		checkTranslations(v, here, l.Translations)
	}
}

func (v *validator) checkAddress(at *path, a *Address) {
	if a == nil || *a != (Address{}) {
		return
	}
	for _, part := range plans[reflect.TypeFor[Address]()].names {
		if v.report.hasFailed(at.field(part)) {
			return
		}
	}
	v.addProblem(at, "names nothing; write street, postal_code, city or country, or leave it out").
		setCode(CodeMissing)
}

func (v *validator) checkCoordinate(at *path, d Decimal) {
	if d.Exponent() < -maxGeoDecimals {
		v.addProblem(at, "is %s; write at most %d decimals", d, maxGeoDecimals).
			setCode(CodeDecimals, "Max", maxGeoDecimals)
	}
}

func (v *validator) checkLegal(at *path) {
	l := v.m.Legal
	if l == nil {
		return
	}
	v.checkLegalTexts(at, LegalTranslation{Imprint: l.Imprint, Privacy: l.Privacy, Terms: l.Terms})
	checkTranslations(v, at, l.Translations)
	for _, language := range sortLanguages(l.Translations) {
		v.checkLegalTexts(at.field("translations").field(string(language)), l.Translations[language])
	}
}

func (v *validator) checkLegalTexts(at *path, l LegalTranslation) {
	v.checkLegalText(at.field("imprint"), l.Imprint)
	v.checkLegalText(at.field("privacy"), l.Privacy)
	v.checkLegalText(at.field("terms"), l.Terms)
}

// checkLegalText reports a single word that looks like a URL but is not an https URL. Pages
// would otherwise show this word as the legal text, and customers could not open the URL.
func (v *validator) checkLegalText(at *path, text string) {
	trimmed := strings.TrimSpace(text)
	isWord := trimmed != "" && !strings.ContainsAny(trimmed, " \t\r\n")
	isURL := strings.HasPrefix(trimmed, "https://") && isWebAddress(trimmed)
	if isWord && strings.Contains(trimmed, "://") && !isURL {
		v.addProblem(at, "is %s; write an https:// address of at most %d characters, or the text itself",
			quote(trimmed), maxURL).setCode(CodeURL, "Value", shorten(trimmed))
	}
}

// ObjectID returns the id of the location. It is derived from the path "location/<key>", unless the manifest sets it.
func (l *Location) ObjectID(business uuid.UUID) uuid.UUID {
	return deriveObjectID(business, l.ID, "location/"+string(l.Key))
}
