// Package form converts between the objects of a manifest and the values of HTML forms. [Show] returns the values that
// a form shows for an object. [Write] writes the values that a person submitted back into the object.
//
// Write compares the submitted values with the shown ones and writes only those that differ. So it keeps fields that
// the form does not show, and values that the form cannot express. The package is pure and produces no HTML; all values
// have the format in which browsers submit forms.
package form

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
)

// Kind is the kind of input of a field.
type Kind int

// The kinds of fields.
const (
	Line    Kind = iota // a line of text
	Address             // a web address
	Prose               // HTML; shown as plain text if it contains only paragraphs and line breaks
	Whole               // a whole number
	Decimal             // a number
	Until               // hours before a start; blank means never
	Wholes              // whole numbers, separated by commas
	Lines               // one text per line
	Date                // 2026-12-24
	Time                // 18:30
	Moment              // 2026-12-24T18:30
	Switch              // a checkbox
	Choice              // exactly one of Options
	Many                // any number of Options
	Picked              // Everything, or any number of Options
	Windows             // time periods of a day, each with start and end
	Week                // Windows for each weekday
	Rows                // a list of objects, each with Fields
)

// Field is one field of an object.
type Field struct {
	Name     string // path in the object, with dots between the names of nested objects
	Kind     Kind
	Label    string // name of a sentence
	Hint     string // name of a sentence; "": none
	Required bool
	// Default is the typed value that is equivalent to leaving the field out.
	Default string
	// Currency is the ISO 4217 code of the amounts in a [Decimal] field; "" if the field is not an amount. People may
	// type the code or the symbol of this currency beside the amount.
	Currency string
	// Ticked means that in a new row all Options of a [Many] field are ticked.
	Ticked    bool
	Options   []Option
	Suggested []string // suggested values of a line
	// Fields are the fields of each row of a [Rows] field. If Key is set, each row has a key. The key of a new row is
	// derived from the row's name; without a name it is the text in Key.
	Fields []Field
	Key    string
	// OwnHours means that a [Week] field has the hours of a member, and a choice above them: own hours, the hours of
	// the business, or no weekly hours. Instead is the source of the hours of the business.
	OwnHours bool
	Instead  document.Fields
}

// Everything is the value of a [Picked] field that selects all objects.
const Everything = "*"

// Option is one possible value of a field. Sentence is the id of the sentence from which Label was made. It is "" if
// the label is not a sentence, such as a name.
type Option struct{ Value, Label, Sentence string }

// Group is a group of fields under one title.
type Group struct {
	Title  string // name of a sentence
	Hint   string
	Fields []Field
}

// All returns the fields of all groups.
func All(groups []Group) []Field {
	var all []Field
	for _, g := range groups {
		all = append(all, g.Fields...)
	}
	return all
}

// Weekdays are the names of the weekdays in a manifest.
var Weekdays = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

// Values of the choice of hours in a Week with OwnHours.
const (
	HoursBusiness = "business"
	HoursOwn      = "own"
	HoursNone     = "none"
)

// Show returns the values with which a form shows the fields of an object.
func Show(object document.Fields, fields []Field) url.Values {
	shown := url.Values{}
	show(shown, object, fields, "")
	return shown
}

func show(shown url.Values, object document.Fields, fields []Field, prefix string) {
	for _, f := range fields {
		name, value, there := prefix+f.Name, any(nil), false
		if at, last := parent(object, f.Name, false); at != nil {
			value, there = at[last]
		}
		switch {
		case f.Kind == Rows:
			list, _ := value.([]any)
			shown.Set(name+".n", strconv.Itoa(len(list)))
			for i, item := range list {
				row, _ := item.(document.Fields)
				show(shown, row, f.Fields, name+"."+strconv.Itoa(i)+".")
			}
		case f.Kind == Week:
			showWeek(shown, f, name, value, there)
		case f.Kind == Windows:
			showWindows(shown, name, value)
		case f.Kind == Picked && value == "all":
			shown.Set(name, Everything)
		case f.Kind == Many || f.Kind == Picked:
			list, _ := value.([]any)
			for _, item := range list {
				shown.Add(name, text(item))
			}
		case !there:
			shown.Set(name, f.Default)
		default:
			shown.Set(name, typed(f.Kind, value))
		}
	}
}

// typed returns a value as a person types it.
func typed(kind Kind, value any) string {
	switch kind {
	case Prose:
		return toText(text(value))
	case Switch:
		if value == true {
			return "yes"
		}
		return ""
	case Lines, Wholes:
		list, _ := value.([]any)
		parts := make([]string, len(list))
		for i, item := range list {
			parts[i] = text(item)
		}
		if kind == Lines {
			return strings.Join(parts, "\n")
		}
		return strings.Join(parts, ", ")
	default: // the others are typed as they are stored
	}
	return text(value)
}

func text(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case json.Number:
		return value.String()
	}
	return ""
}

func showWeek(shown url.Values, f Field, name string, value any, there bool) {
	days, _ := value.(document.Fields)
	if f.OwnHours {
		switch {
		case !there:
			shown.Set(name+".mode", HoursBusiness)
			days = f.Instead
		case len(days) == 0:
			shown.Set(name+".mode", HoursNone)
		default:
			shown.Set(name+".mode", HoursOwn)
		}
	}
	for _, day := range Weekdays {
		showWindows(shown, name+"."+day, days[day])
	}
}

// showWindows adds the values of time periods. The end of the day, 24:00, is shown as 00:00.
func showWindows(shown url.Values, name string, value any) {
	list, _ := value.([]any)
	shown.Set(name+".n", strconv.Itoa(len(list)))
	for i, item := range list {
		from, to, _ := strings.Cut(text(item), "-")
		if to == "24:00" {
			to = "00:00"
		}
		shown.Set(name+"."+strconv.Itoa(i)+".from", from)
		shown.Set(name+"."+strconv.Itoa(i)+".to", to)
	}
}

// parent follows the dots in a field's name. It returns the object that contains the field, and the last part of the
// name. If an object on the way does not exist, parent creates it if made is true, and returns nil otherwise.
func parent(object document.Fields, name string, made bool) (document.Fields, string) {
	for {
		first, rest, nested := strings.Cut(name, ".")
		if !nested || object == nil {
			return object, name
		}
		inner, ok := object[first].(document.Fields)
		if !ok && made {
			inner = document.Fields{}
			object[first] = inner
		}
		object, name = inner, rest
	}
}

// Count returns the number of rows or windows that a form shows for the list called name, at most mostRows.
func Count(values url.Values, name string) int {
	n, err := strconv.Atoi(values.Get(name + ".n"))
	if err != nil || n < 0 {
		return 0
	}
	return min(n, mostRows)
}

// mostRows is the maximum number of rows of a form.
const mostRows = 1000

// same reports whether a field's value is the one that was shown.
func same(shown, posted url.Values, name string) bool {
	notBlank := func(all []string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == "" })
	}
	return slices.Equal(notBlank(shown[name]), notBlank(posted[name]))
}

// Open returns the shown values with one more blank row or window in each list, for a person to add an object.
func Open(shown url.Values, fields []Field) url.Values {
	opened := url.Values{}
	for name, values := range shown {
		opened[name] = slices.Clone(values)
	}
	open(opened, fields, "")
	return opened
}

func open(values url.Values, fields []Field, prefix string) {
	for _, f := range fields {
		name := prefix + f.Name
		switch f.Kind {
		case Windows:
			addRow(values, f, name)
		case Week:
			for _, day := range Weekdays {
				at := name + "." + day
				values.Set(at+".n", strconv.Itoa(max(minDayWindows, Count(values, at)+1)))
			}
		case Rows:
			for i := range Count(values, name) {
				open(values, f.Fields, name+"."+strconv.Itoa(i)+".")
			}
			addRow(values, f, name)
		default: // the others have no rows
		}
	}
}

// minDayWindows is the minimum number of windows (periods of opening time) that a form shows for each weekday: one
// before and one after a break.
const minDayWindows = 2

// SameHours is the suffix of a button's name. The button makes [More] copy the hours of the first open day of a week to
// its other open days.
const SameHours = ".same"

// More adds a blank row to the list called name. If name ends with [SameHours], it copies hours within a week instead.
// If no field has the name, it changes nothing.
func More(values url.Values, fields []Field, name string) {
	if week, isWeek := strings.CutSuffix(name, SameHours); isWeek {
		if f, found := Find(fields, week); found && f.Kind == Week {
			copyDay(values, week)
		}
		return
	}
	if f, found := Find(fields, name); found && f.Kind == Rows {
		addRow(values, f, name)
	}
}

// addRow adds a blank row or window. It ticks the boxes that are ticked by default.
func addRow(values url.Values, f Field, name string) {
	n := Count(values, name)
	values.Set(name+".n", strconv.Itoa(n+1))
	for _, inner := range f.Fields {
		if inner.Kind == Switch {
			values.Set(name+"."+strconv.Itoa(n)+"."+inner.Name, inner.Default)
		}
		if !inner.Ticked {
			continue
		}
		for _, option := range inner.Options {
			values.Add(name+"."+strconv.Itoa(n)+"."+inner.Name, option.Value)
		}
	}
}

// Find returns the field that an input belongs to. For the input rentals.0.units it is the field units of the list
// rentals.
func Find(fields []Field, name string) (Field, bool) {
	for _, f := range fields {
		if f.Name == name {
			return f, true
		}
		inRow, isInner := strings.CutPrefix(name, f.Name+".")
		if !isInner || f.Kind != Rows {
			continue
		}
		if _, rest, nested := strings.Cut(inRow, "."); nested {
			return Find(f.Fields, rest)
		}
	}
	return Field{}, false
}

// copyDay copies the windows of the first weekday that has a typed time to all other weekdays that have one.
func copyDay(values url.Values, week string) {
	first := ""
	for _, day := range Weekdays {
		at := week + "." + day
		switch {
		case !typedInto(values, at):
		case first == "":
			first = at
		default:
			for i := range max(Count(values, at), Count(values, first)) {
				for _, end := range []string{".from", ".to"} {
					row := "." + strconv.Itoa(i) + end
					values.Set(at+row, values.Get(first+row))
				}
			}
			values.Set(at+".n", strconv.Itoa(max(Count(values, at), Count(values, first))))
			values.Del(at + ConfirmsOvernight)
			if values.Has(first + ConfirmsOvernight) {
				values.Set(at+ConfirmsOvernight, values.Get(first+ConfirmsOvernight))
			}
		}
	}
}

// typedInto reports whether any window of a day has a time.
func typedInto(values url.Values, day string) bool {
	for i := range Count(values, day) {
		at := day + "." + strconv.Itoa(i)
		if values.Get(at+".from") != "" || values.Get(at+".to") != "" {
			return true
		}
	}
	return false
}
