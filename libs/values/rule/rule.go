// Package rule defines the conditions of pricing rules, which are the pricing_rules of a manifest
// (semantics.md §5). It contains the table of the kinds of rules, and the type of a condition. The
// manifest package parses and validates conditions by this table. The business snapshot contains
// the conditions unchanged, and the service pricing evaluates them. The package does no I/O.
//
// A new kind of rule needs a row in [Kinds] and an evaluation in pricing. If
// no other kind has a suitable field in [When], it also needs a new field.
package rule

import (
	"reflect"
	"slices"
	"strings"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Kind is the kind of a rule. It determines which fields the rule's condition has.
type Kind string

// These constants are the kinds of rules.
const (
	Seasonal     Kind = "seasonal"
	DayOfWeek    Kind = "day_of_week"
	TimeOfDay    Kind = "time_of_day"
	FlashSale    Kind = "flash_sale"
	EarlyBird    Kind = "early_bird"
	LastMinute   Kind = "last_minute"
	PartySize    Kind = "party_size"
	FirstBooking Kind = "first_booking"
	Duration     Kind = "duration"
)

// Input is a property of a booking that the condition of a rule may need. The time of the sale and the date of the
// booking are always known, so they are not inputs.
type Input string

// These constants are all inputs. A rule does not apply if one of its inputs is unknown.
const (
	Start       Input = "start"         // time of day at which the booking starts
	Guests      Input = "party_size"    // number of guests
	NewCustomer Input = "first_booking" // whether the customer has no earlier booking
	Units       Input = "units"         // hours or days of a rental
)

// Spec is a row of the table [Kinds]: the fields and the inputs of one kind of rule.
type Spec struct {
	Kind  Kind
	All   []string // fields of When that are required
	Any   []string // fields of When; at least one is required
	Span  Span     // forms of the fields From and To, for a kind that has them
	Needs []Input
}

// Span describes the permitted forms of the fields From and To of [When].
type Span struct {
	Forms []Form
	Want  string // description of the forms for an error sentence
}

// Kinds is the table of all kinds of rules.
var Kinds = []Spec{
	{Kind: Seasonal, All: []string{"from", "to"}, Span: Span{
		Forms: []Form{MonthDayForm, DateForm}, Want: `a day of the year, "MM-DD", or a date, YYYY-MM-DD`,
	}},
	{Kind: DayOfWeek, All: []string{"days"}},
	{Kind: TimeOfDay, All: []string{"from", "to"}, Needs: []Input{Start}, Span: Span{
		Forms: []Form{TimeForm}, Want: `a time, "HH:MM"`,
	}},
	{Kind: FlashSale, All: []string{"from", "to"}, Span: Span{
		Forms: []Form{DateTimeForm}, Want: "a local date and time, YYYY-MM-DDTHH:MM",
	}},
	{Kind: EarlyBird, All: []string{"min_days_before"}},
	{Kind: LastMinute, All: []string{"max_days_before"}},
	{Kind: PartySize, Any: []string{"min", "max"}, Needs: []Input{Guests}},
	{Kind: FirstBooking, Needs: []Input{NewCustomer}},
	{Kind: Duration, Any: []string{"min_units", "max_units"}, Needs: []Input{Units}},
}

// Names returns the names of all kinds in the order of the table.
func Names() []string {
	names := make([]string, len(Kinds))
	for i, s := range Kinds {
		names[i] = string(s.Kind)
	}
	return names
}

// SpecOf returns the row for a kind. It returns false if the kind is unknown.
func SpecOf(kind Kind) (Spec, bool) {
	i := slices.IndexFunc(Kinds, func(s Spec) bool { return s.Kind == kind })
	if i < 0 {
		return Spec{}, false
	}
	return Kinds[i], true
}

// When is the condition of a rule. Only the fields that belong to the rule's kind are set.
type When struct {
	// seasonal: MM-DD or a date. time_of_day: HH:MM. flash_sale: a date and time.
	From *Bound `json:"from,omitzero"`
	// Written like from. Dates are included, times are not.
	To *Bound `json:"to,omitzero"`
	// Weekdays for day_of_week.
	Days []timespan.Weekday `json:"days,omitzero" jsonschema:"minItems=1,maxItems=7"`
	// early_bird: at least this many days before.
	MinDaysBefore *int `json:"min_days_before,omitzero" jsonschema:"minimum=0,maximum=3650"`
	// last_minute: at most this many days before.
	MaxDaysBefore *int `json:"max_days_before,omitzero" jsonschema:"minimum=0,maximum=3650"`
	// party_size: at least this many guests.
	Min *int `json:"min,omitzero" jsonschema:"minimum=1,maximum=1000"`
	// party_size: at most this many guests.
	Max *int `json:"max,omitzero" jsonschema:"minimum=1,maximum=1000"`
	// duration: at least this many hours or days.
	MinUnits *int `json:"min_units,omitzero" jsonschema:"minimum=1,maximum=100000"`
	// duration: at most this many hours or days.
	MaxUnits *int `json:"max_units,omitzero" jsonschema:"minimum=1,maximum=100000"`
}

// whenType is the type of [When]. Its json tags contain the names of the fields in a manifest.
var whenType = reflect.TypeFor[When]()

// Fields returns the names of all fields of [When] in a manifest, in the order of the struct.
func Fields() []string {
	names := make([]string, whenType.NumField())
	for i := range names {
		names[i], _, _ = strings.Cut(whenType.Field(i).Tag.Get("json"), ",")
	}
	return names
}

// FieldNames returns the names of the fields that are set in `w`, in the order of the struct.
func (w When) FieldNames() []string {
	var written []string
	for i, name := range Fields() {
		if !reflect.ValueOf(w).Field(i).IsZero() {
			written = append(written, name)
		}
	}
	return written
}
