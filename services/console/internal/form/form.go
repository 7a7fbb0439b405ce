// Package form is how people fill in objects of a manifest: what a form shows of an object's fields, and how what was typed is written into
// them. A field that was left as it was shown is not written, so that whatever the form cannot say, and all that it does not know, stays.
// It is pure and knows no HTML: what is shown and what is typed are both what a browser posts.
package form

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/slotmesh/slotmesh/services/console/internal/document"
)

// Kind is how a field is filled in.
type Kind int

// The kinds of fields.
const (
	Line    Kind = iota // a line of text
	Address             // a web address
	Prose               // HTML, as plain paragraphs where it is nothing more
	Whole               // a whole number
	Decimal             // a number
	Until               // hours before a start; blank says never
	Wholes              // whole numbers, parted by commas
	Lines               // a text on each line
	Date                // 2026-12-24
	Time                // 18:30
	Moment              // 2026-12-24T18:30
	Switch              // a box to tick
	Choice              // one of Options
	Many                // some of Options
	Picked              // Everything, or some of Options
	Windows             // from when to when, several times a day
	Week                // windows of each weekday
	Rows                // objects, each with Fields
)

// Field is one of an object's fields.
type Field struct {
	Name     string // in the object; parted by points for one of an object in it
	Kind     Kind
	Label    string // names a sentence
	Hint     string // names a sentence; "" for none
	Required bool
	// Default is what leaving the field out says, as it is typed.
	Default string
	// Currency may stand beside a [Decimal], as its code or its symbol; ISO 4217, or "" for none.
	Currency string
	// Ticked means that a new row begins with all Options of a [Many] field.
	Ticked    bool
	Options   []Option
	Suggested []string // what may be typed into a line, to choose from
	// Fields are those of each row. Rows with a Key have keys: a new one gets the Key, or what it is called, as its own.
	Fields []Field
	Key    string
	// Week: beside own windows, those of the business (from Instead), or none but those of single dates.
	OwnHours bool
	Instead  document.Fields
}

// Everything is the answer to a [Picked] field that picks all there are.
const Everything = "*"

// Option is one of the answers to a field. Sentence is the name of the sentence that its label is, "" for another label.
type Option struct{ Value, Label, Sentence string }

// Group are fields that stand together.
type Group struct {
	Title  string // names a sentence
	Hint   string
	Fields []Field
}

// All are the fields of all groups.
func All(groups []Group) []Field {
	var all []Field
	for _, g := range groups {
		all = append(all, g.Fields...)
	}
	return all
}

// Weekdays are the days of a week, as a manifest names them.
var Weekdays = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

// Values of a week's own hours.
const (
	HoursBusiness = "business"
	HoursOwn      = "own"
	HoursNone     = "none"
)

// Show is what the fields of an object are filled in with.
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

// typed is a value as it is typed.
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
	default: // the others are typed as they are kept
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

// showWindows fills in windows. The end of a day is midnight to who types it.
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

// parent is the object in which a field of this name stands, and its name there; made where it is not there and is to be, else nil.
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

// Count is how many rows or windows of a name were shown, within reason.
func Count(values url.Values, name string) int {
	n, err := strconv.Atoi(values.Get(name + ".n"))
	if err != nil || n < 0 {
		return 0
	}
	return min(n, mostRows)
}

// mostRows bounds the rows of a form.
const mostRows = 1000

// same reports whether a field was left as it was shown.
func same(shown, posted url.Values, name string) bool {
	notBlank := func(all []string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == "" })
	}
	return slices.Equal(notBlank(shown[name]), notBlank(posted[name]))
}

// Open adds to what is shown a blank row, or a blank window, wherever there may be one more.
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

// minDayWindows is how many windows each day of a week has to fill in: those before and after a break.
const minDayWindows = 2

// SameHours is the suffix of the name by which [More] copies the hours of a week's first open day to its other open days.
const SameHours = ".same"

// More adds a blank row to the rows of a name, or copies the hours of a week (SameHours). A name that no field has changes
// nothing.
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

// addRow adds a blank row or window, in which the boxes are ticked that a new row begins with.
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

// Find returns the field of a name of what is typed, such as the units of rentals.0.units.
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

// copyDay gives each day of a week on which something is typed the windows of the first such day.
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

// typedInto reports whether a window of a day has a time.
func typedInto(values url.Values, day string) bool {
	for i := range Count(values, day) {
		at := day + "." + strconv.Itoa(i)
		if values.Get(at+".from") != "" || values.Get(at+".to") != "" {
			return true
		}
	}
	return false
}
