// Package request reads the body of POST /book. It is strict about types and bounds. Each
// fault is a sentence that names the field and describes a valid value. The package is pure.
//
// Unknown fields are ignored, so that a client may send fields that only a newer version
// reads. But a field is refused if its name differs from a known name only in case or
// underscores, because it is probably a mistake. The value null means the same as no field.
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
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/plain"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Values of payment_choice; it is "" if it was left out.
const (
	PayOnline = "online"
	PayAtDoor = "at_door"
)

// Maxima of a body's members; lengths of text are in characters.
const (
	maxServices  = 20
	maxName      = 200
	maxPhone     = 50
	maxSource    = 100
	maxProvider  = 100
	maxLocale    = 100
	maxPartySize = 1000
)

// The source of a booking states through which channel it was made. It is the value
// in the request. Without a value, it is pagesSource for the booking page, otherwise
// defaultSource. A booking by the owner always has ownersSource (admin.md).
const (
	defaultSource = "api"
	pagesSource   = "page"
	ownersSource  = "dashboard"
)

// source reads the source of a booking. A client with an API key cannot use the source of the
// booking page or of the owner.
func (f *fields) source(from actor.Actor) string {
	s := f.withDefault("source", maxSource, sourceOf(from))
	if from.Kind == actor.APIKey && (strings.EqualFold(s, pagesSource) || strings.EqualFold(s, ownersSource)) {
		f.fail("source", "%s and %s stand for the booking page and the owner; send another name, or leave it out.",
			pagesSource, ownersSource)
	}
	return s
}

// sourceOf returns the source of a booking whose request has none.
func sourceOf(from actor.Actor) string {
	if from.Kind == actor.Page {
		return pagesSource
	}
	return defaultSource
}

// Request is a parsed body of POST /book. It has not yet been checked against the business.
type Request struct {
	ServiceIDs        []uuid.UUID
	StaffID           *uuid.UUID
	Date              timespan.Date // the calendar date of the start
	Time              timespan.TimeOfDay
	CustomerName      string
	CustomerEmail     string // "" if the owner books for a customer without an address
	CustomerPhone     *string
	FormData          map[string]any // answers to the business's own questions: JSON values, numbers as json.Number
	PartySize         int
	PaymentChoice     string
	ClassScheduleID   *uuid.UUID
	Source            string
	Locale            string // the customer's language as sent, "" if it was left out
	PreferredProvider string
	IsPackage         bool
	StaffingMode      string                  // "per_service" or ""
	Variants          map[uuid.UUID]uuid.UUID // service to variant; nil if no variant was chosen
	// true for the owner, who is not bound by notice, advance limit, pause and grid
	Override     bool
	OutsideHours bool // owner only, the field override: also outside working hours
}

// Parse reads a body. The argument from is the actor that sent it. Parse ignores members
// that this actor may not set. Fault: invalid_parameter for the first invalid field.
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
		ServiceIDs:        f.ids("service_ids", maxServices),
		Date:              f.date("date"),
		Time:              f.startTime("time"),
		CustomerName:      f.name("customer_name", maxName),
		CustomerEmail:     f.email("customer_email", from),
		CustomerPhone:     f.optional("customer_phone", maxPhone),
		StaffID:           f.id("staff_id"),
		PartySize:         f.whole("party_size", 1, 1, maxPartySize),
		PaymentChoice:     f.oneOf("payment_choice", PayOnline, PayAtDoor),
		ClassScheduleID:   f.id("class_schedule_id"),
		Source:            f.source(from),
		Locale:            f.text("locale", maxLocale),
		PreferredProvider: f.withDefault("preferred_provider", maxProvider, ""),
		FormData:          f.form("form_data", from),
		IsPackage:         f.flag("is_package"),
		StaffingMode:      f.withDefault("staffing_mode", maxProvider, ""),
		Variants:          f.variants("variants"),
	}
	if from.Kind == actor.Owner {
		r.Source, r.Override, r.OutsideHours = ownersSource, true, f.flag("override")
	}
	if r.StaffingMode != availability.StaffingPerService {
		r.StaffingMode = ""
	}
	if f.fault != nil {
		return nil, f.fault
	}
	return r, nil
}

// fieldNames are the fields that [Parse] reads.
var fieldNames = []string{
	"service_ids", "date", "time", "customer_name", "customer_email", "customer_phone", "staff_id", "party_size",
	"payment_choice",
	"class_schedule_id", "source", "locale", "preferred_provider", "form_data", "is_package", "staffing_mode",
	"variants", "override",
}

// Hash returns a hash of the body as a JSON value, so that two requests can be compared. White
// space and the order of members do not change the hash. [Parse] must have accepted the body.
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
