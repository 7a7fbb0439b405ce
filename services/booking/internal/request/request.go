// Package request parses the body of POST /book. The package checks the type, the
// length and the range of each value. The message of each fault names the field
// and describes a valid value. The package is pure: it does no input or output.
//
// The package ignores unknown fields, because a client may send fields that only a newer version of the service
// knows. There is one exception: a field name that differs from a known name only in case or underscores is
// refused, because it is probably a mistake. The value null has the same meaning as a missing field.
package request

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/plain"
	"github.com/slotmesh/slotmesh/libs/values/postal"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// The values of the field payment_choice. [Request].PaymentChoice is "" if the field is missing.
const (
	PayOnline = "online"
	PayAtDoor = "at_door"
)

// The maxima of the fields in the body. The maxima of texts are numbers of characters.
const (
	maxServices  = 20
	maxName      = 200
	maxPhone     = 50
	maxSource    = 100
	maxProvider  = 100
	maxLocale    = 100
	maxPartySize = 1000

	maxAddressPart = 200
)

// The sources of bookings. The source names the channel through which a booking was made. A request may set
// its source. If a request sets no source, the source is pagesSource for a request of the booking page, and
// defaultSource for any other request. A booking by the owner always has the source ownersSource (admin.md).
const (
	defaultSource = "api"
	pagesSource   = "page"
	ownersSource  = "dashboard"
)

// readSource reads the source of a booking. A client with an API key may
// not use the source of the booking page or the source of the owner.
func (f *fields) readSource(from actor.Actor) string {
	s := f.readWithDefault("source", maxSource, findDefaultSource(from))
	if from.Kind == actor.APIKey && (strings.EqualFold(s, pagesSource) || strings.EqualFold(s, ownersSource)) {
		f.fail("source", "%s and %s stand for the booking page and the owner; send another name, or leave it out.",
			pagesSource, ownersSource)
	}
	return s
}

// findDefaultSource returns the source of a booking if the request does not set one.
func findDefaultSource(from actor.Actor) string {
	if from.Kind == actor.Page {
		return pagesSource
	}
	return defaultSource
}

// Request is the parsed body of POST /book. [Parse] does not compare the values with the offer of the business.
type Request struct {
	ServiceIDs        []uuid.UUID
	StaffID           *uuid.UUID
	Date              timespan.Date // the local date of the start
	Time              timespan.TimeOfDay
	CustomerName      string
	CustomerEmail     string // "" only if the owner books for a customer without an e-mail address
	CustomerPhone     *string
	FormData          map[string]any // answers to the questions of the business: JSON values, numbers as json.Number
	PartySize         int
	PaymentChoice     string
	ClassScheduleID   *uuid.UUID
	Source            string
	Locale            string // the customer's language as the client sent it; "" if the field is missing
	PreferredProvider string
	IsPackage         bool
	StaffingMode      string                  // [availability.StaffingPerService] or ""
	Variants          map[uuid.UUID]uuid.UUID // the chosen variants: service id to variant id; nil if there are none
	// Override is true if the owner books. Notice, advance limit, pause and grid then do not bind the booking.
	Override bool
	// Location is the JSON value of the field location_id; see [Request.LocationID].
	Location json.RawMessage
	// Address is the JSON value of the field customer_address; see [Request.CustomerAddress].
	Address      json.RawMessage
	OutsideHours bool // true if the owner sent the field `override`: the booking may also be outside working hours
}

// Parse parses the body of POST /book. The argument `from` is the actor that sent the body. Parse
// ignores fields that this actor may not set. Fault: invalid_parameter for the first invalid field.
func Parse(body []byte, from actor.Actor) (*Request, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, fault.New(fault.InvalidParameter,
			"The body is empty; send a JSON object with service_ids, date, time, customer_name and customer_email.")
	}
	if !utf8.Valid(body) {
		return nil, fault.New(fault.InvalidParameter, "The body is not valid UTF-8; send JSON in UTF-8.")
	}
	f := fields{}
	if err := json.Unmarshal(body, &f.raw); err != nil || f.raw == nil {
		return nil, fault.New(fault.InvalidParameter,
			"The body is not a JSON object; send one such as {\"service_ids\": [\"…\"], \"date\": \"2027-03-01\", …}.")
	}
	if err := plain.CheckNames("field", slices.Sorted(maps.Keys(f.raw)), fieldNames); err != nil {
		return nil, err
	}
	r := &Request{
		ServiceIDs:        f.readIDs("service_ids", maxServices),
		Date:              f.readDate("date"),
		Time:              f.readStartTime("time"),
		CustomerName:      f.readName("customer_name", maxName),
		CustomerEmail:     f.readEmail("customer_email", from),
		CustomerPhone:     f.readOptional("customer_phone", maxPhone),
		StaffID:           f.readID("staff_id"),
		PartySize:         f.readInteger("party_size", 1, 1, maxPartySize),
		PaymentChoice:     f.readOneOf("payment_choice", PayOnline, PayAtDoor),
		ClassScheduleID:   f.readID("class_schedule_id"),
		Source:            f.readSource(from),
		Locale:            f.readText("locale", maxLocale),
		PreferredProvider: f.readWithDefault("preferred_provider", maxProvider, ""),
		FormData:          f.readForm("form_data", from),
		IsPackage:         f.readBool("is_package"),
		StaffingMode:      f.readWithDefault("staffing_mode", maxProvider, ""),
		Variants:          f.readVariants("variants"),
		Location:          f.raw[locationField],
		Address:           f.raw[addressField],
	}
	if from.Kind == actor.Owner {
		r.Source, r.Override, r.OutsideHours = ownersSource, true, f.readBool("override")
	}
	if r.StaffingMode != availability.StaffingPerService {
		r.StaffingMode = ""
	}
	if f.fault != nil {
		return nil, f.fault
	}
	return r, nil
}

// The names of the fields with the location and the customer's address. They are not in fieldNames, because
// the requests to a business without locations may contain any field of a similar name.
const (
	locationField = "location_id"
	addressField  = "customer_address"
)

// LocationID parses the requested location. It returns nil if the request names none. The caller calls
// LocationID only if the business has locations; otherwise the field is ignored. Fault: invalid_parameter.
func (r *Request) LocationID() (*uuid.UUID, error) {
	f := fields{raw: map[string]json.RawMessage{locationField: r.Location}}
	if r.Location == nil {
		return nil, nil
	}
	id := f.readID(locationField)
	return id, f.fault
}

// CustomerAddress parses the customer's address. It returns nil if the request has none. The caller calls
// CustomerAddress only if the business has locations; otherwise the field is ignored. Fault: invalid_parameter.
func (r *Request) CustomerAddress() (*booking.CustomerAddress, error) {
	return ParseAddress(addressField, r.Address)
}

// ParseAddress parses an address at which a booking takes place. The argument `name` is the name of the field, and
// `raw` is its JSON value. The result is nil if the value is missing or null. Fault: invalid_parameter.
func ParseAddress(name string, raw json.RawMessage) (*booking.CustomerAddress, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	f := fields{}
	var parts map[string]json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		f.fail(name, "%s is not an object; send one such as {\"street\": \"Rua 1\", \"city\": \"Lisboa\"}.", typeName(raw))
		return nil, f.fault
	}
	f.raw = make(map[string]json.RawMessage, len(parts))
	for part, value := range parts {
		f.raw[name+"."+part] = value
	}
	a := &booking.CustomerAddress{
		Address: postal.Address{
			Street: f.readName(name+".street", maxAddressPart), PostalCode: f.readVisible(name+".postal_code", maxAddressPart),
			City:    f.readName(name+".city", maxAddressPart),
			Country: strings.ToUpper(f.readVisible(name+".country", maxAddressPart)),
		},
		Note: f.readVisible(name+".note", maxAddressPart),
	}
	if a.Country != "" && !postal.IsCountry(a.Country) {
		f.fail(name+".country", "%q is not a country; send a code of ISO 3166-1 such as PT.", clip(a.Country))
	}
	return a, f.fault
}

// fieldNames are the names of the fields that [Parse] reads.
var fieldNames = []string{
	"service_ids", "date", "time", "customer_name", "customer_email", "customer_phone", "staff_id", "party_size",
	"payment_choice",
	"class_schedule_id", "source", "locale", "preferred_provider", "form_data", "is_package", "staffing_mode",
	"variants", "override",
}

// Hash returns a hash of the JSON value in the body. Two bodies have the same hash if they differ only
// in white space or in the order of members. The caller passes only a body that [Parse] has accepted.
func Hash(body []byte) [sha256.Size]byte {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return sha256.Sum256(body)
	}
	canonical, err := json.Marshal(value)
	if err != nil {
		return sha256.Sum256(body)
	}
	return sha256.Sum256(canonical)
}
