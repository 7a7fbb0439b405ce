// Package form converts between the objects of a manifest and the values of HTML forms. [Show] returns the values that
// a form shows for an object. [Write] writes the submitted values back into the object. The values have the format in
// which browsers submit forms. The package does no I/O and makes no HTML.
//
// Write compares the submitted values with the shown values and writes only the values that differ. So Write keeps
// fields that the form does not show, and values that the form cannot express.
package form

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
)

// Kind is the kind of the HTML input that a form has for a field.
type Kind int

// The kinds of inputs. Some comments show an example of the text that a person types.
const (
	Line         Kind = iota // a line of text
	Address                  // a URL
	Prose                    // HTML; shown as plain text if it contains only paragraphs and line breaks
	Text                     // several lines of plain text
	Position                 // latitude and longitude in degrees, such as 38.7139, -9.1394
	Integer                  // an integer
	Decimal                  // a decimal number
	Deadline                 // deadline in hours before a start; a blank input means that customers may never act
	Integers                 // integers, separated by commas
	Lines                    // one text per line
	Date                     // a date, such as 2026-12-24
	Time                     // a time of day, such as 18:30
	DateTime                 // a local date and time, such as 2026-12-24T18:30
	Switch                   // a checkbox
	Choice                   // exactly one of Field.Options
	Checkboxes               // any number of Field.Options
	ObjectPicker             // AllObjects, or any number of Field.Options
	Windows                  // time periods of a day, each with a start and an end
	Week                     // time periods of each weekday, each with a start and an end
	Rows                     // a list of objects; Field.Fields are the fields of each object
	Picture                  // the id of an uploaded picture
	Pictures                 // the ids of uploaded pictures, in the order in which customers see them
	Choices                  // any number of Field.Options, each chosen in an input of its own
)

// Field is one field of an object of the manifest, as a form shows it.
type Field struct {
	// Name is the path of the field in the object. Dots separate the names of nested objects. A number is the index in
	// a list of objects, such as locations.0.name.
	Name  string
	Kind  Kind
	Label string // id of the text that labels the field
	Hint  string // id of the text that explains the field; "" for no explanation
	// Add is the id of the text of the button that adds a row or a choice; "" for the id in Label with the suffix _more.
	Add      string
	Required bool
	// Default is the input value that has the same meaning as a manifest without the field.
	Default string
	// Currency is the ISO 4217 code of the amount in a [Decimal] field; "" if the field is not an amount. A person may
	// type the code or the symbol of this currency before or after the amount.
	Currency string
	Unit     string // id of the text that the form shows inside the input of a number; "" for none
	// IsTicked means that all Options of a [Checkboxes] field are ticked in a new row.
	IsTicked  bool
	Options   []Option
	Suggested []string // suggested values of a [Line] field
	// Fields are the fields of each row of a [Rows] field. If Key is not empty, each row has a key. The key of a new
	// row is derived from the row's name, or from the text in Key if the row has no name.
	Fields []Field
	Key    string
	// New has the fields that a new row of a [Rows] field has, and that the form does not show.
	New document.Fields
	// IsMap means that a [Rows] field is an object in the manifest, whose field names a person chooses. Each row then
	// has the fields name and value.
	IsMap bool
	// HasOwnHours means that a [Week] field has the hours of a member. The form then shows a choice above the hours:
	// own hours, the hours of the business, or no weekly hours. The field Instead has the fields of the business, which
	// contain the hours of the business.
	HasOwnHours bool
	Instead     document.Fields
	// Places are the locations at which a member may have hours of their own. If a person chooses [HoursAtPlaces], the
	// hours at each location replace the hours of the [Week] field. The option's value is the key of the location.
	Places []Option
}

// LabelOfAdd returns the id of the text of the button that adds a row or a choice.
func (f Field) LabelOfAdd() string { return cmp.Or(f.Add, f.Label+"_more") }

// AllObjects is the value of an [ObjectPicker] field if a person selects all objects.
const AllObjects = "*"

// Option is one possible value of a field. Label is the text that the form shows. Sentence is the id of the translated
// text in Label. Sentence is "" if Label is not a translated text, for example if Label is a name.
type Option struct{ Value, Label, Sentence string }

// Group is a group of fields that a form shows under one title.
type Group struct {
	Title  string // id of the title's text
	Hint   string
	Fields []Field
}

// ListFields returns the fields of all groups in one list, in the order of the groups.
func ListFields(groups []Group) []Field {
	var all []Field
	for _, g := range groups {
		all = append(all, g.Fields...)
	}
	return all
}

// Weekdays are the names of the weekdays in a manifest.
var Weekdays = []string{"mon", "tue", "wed", "thu", "fri", "sat", "sun"}

// Values of the choice that a form shows above a [Week] field with HasOwnHours.
const (
	HoursBusiness = "business"
	HoursOwn      = "own"
	HoursNone     = "none"
	HoursAtPlaces = "locations" // own hours at each location
)

// placeHours is the name of a member's field with the hours at each location.
const placeHours = "at"

// NamePlaceHours returns the name of the input for a member's hours at a location. The argument `week` is the name of
// the [Week] field, and the argument `place` is the key of the location.
func NamePlaceHours(week, place string) string {
	return week[:strings.LastIndexByte(week, '.')+1] + placeHours + "." + place
}

// Show returns the values with which a form shows the fields of an object.
func Show(object document.Fields, fields []Field) url.Values {
	shown := url.Values{}
	show(shown, object, fields, "")
	return shown
}

func show(shown url.Values, object document.Fields, fields []Field, prefix string) {
	for _, f := range fields {
		name, value, exists := prefix+f.Name, any(nil), false
		if at, last := findParent(object, f.Name, false); at != nil {
			value, exists = at[last]
		}
		switch {
		case f.Kind == Rows:
			list := listRows(f, value)
			shown.Set(name+".n", strconv.Itoa(len(list)))
			for i, item := range list {
				row, _ := item.(document.Fields)
				show(shown, row, f.Fields, name+"."+strconv.Itoa(i)+".")
			}
		case f.Kind == Week:
			showWeek(shown, f, name, value, exists)
			showPlaceHours(shown, object, f, name)
		case f.Kind == Windows:
			showWindows(shown, name, value)
		case f.Kind == ObjectPicker && value == "all":
			shown.Set(name, AllObjects)
		case hasValues(f.Kind):
			list, _ := value.([]any)
			for _, item := range list {
				shown.Add(name, formatText(item))
			}
		case !exists:
			shown.Set(name, f.Default)
		default:
			shown.Set(name, formatValue(f.Kind, value))
		}
	}
}

// hasValues reports whether an input of the given kind submits any number of values.
func hasValues(kind Kind) bool {
	return kind == Checkboxes || kind == ObjectPicker || kind == Pictures || kind == Choices
}

// listRows returns the objects that the rows of a field show.
func listRows(f Field, value any) []any {
	if !f.IsMap {
		list, _ := value.([]any)
		return list
	}
	object, _ := value.(document.Fields)
	var list []any
	for _, name := range slices.Sorted(maps.Keys(object)) {
		list = append(list, document.Fields{"name": name, "value": object[name]})
	}
	return list
}

// formatValue returns a value of the manifest as text, in the notation in which a person types it into a field of the
// given kind.
func formatValue(kind Kind, value any) string {
	switch kind {
	case Prose:
		return toText(formatText(value))
	case Position:
		return formatPosition(value)
	case Switch:
		if value == true {
			return "yes"
		}
		return ""
	case Lines, Integers:
		list, _ := value.([]any)
		parts := make([]string, len(list))
		for i, item := range list {
			parts[i] = formatText(item)
		}
		if kind == Lines {
			return strings.Join(parts, "\n")
		}
		return strings.Join(parts, ", ")
	default: // a person types values of the other kinds as the manifest stores them
	}
	return formatText(value)
}

func formatText(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case json.Number:
		return value.String()
	}
	return ""
}

func showWeek(shown url.Values, f Field, name string, value any, exists bool) {
	days, _ := value.(document.Fields)
	if f.HasOwnHours {
		switch {
		case !exists:
			shown.Set(name+".mode", HoursBusiness)
			days = f.Instead
		case len(days) == 0:
			shown.Set(name+".mode", HoursNone)
		default:
			shown.Set(name+".mode", HoursOwn)
		}
	}
	showDays(shown, name, days)
}

// showDays adds the hours of each weekday, and the value of each day's switch, to the values in the argument `shown`.
func showDays(shown url.Values, week string, days document.Fields) {
	for _, day := range Weekdays {
		at := week + "." + day
		showWindows(shown, at, days[day])
		if CountRows(shown, at) > 0 {
			shown.Set(at+OpenSwitch, "yes")
		}
	}
}

// showPlaceHours adds the hours of a member at each location to the values in the argument `shown`.
func showPlaceHours(shown url.Values, member document.Fields, f Field, name string) {
	hours, exists := member[placeHours].(document.Fields)
	if exists && len(f.Places) > 0 {
		shown.Set(name+".mode", HoursAtPlaces)
	}
	for _, place := range f.Places {
		days, _ := hours[place.Value].(document.Fields)
		showDays(shown, NamePlaceHours(name, place.Value), days)
	}
}

// showWindows adds the windows (time periods) of a day to the values in the argument `shown`. It shows the end of the
// day, 24:00, as 00:00.
func showWindows(shown url.Values, name string, value any) {
	list, _ := value.([]any)
	shown.Set(name+".n", strconv.Itoa(len(list)))
	for i, item := range list {
		from, to, _ := strings.Cut(formatText(item), "-")
		if to == "24:00" {
			to = "00:00"
		}
		shown.Set(name+"."+strconv.Itoa(i)+".from", from)
		shown.Set(name+"."+strconv.Itoa(i)+".to", to)
	}
}

// findParent follows the dots in a field's name. It returns the object that contains the field, and the last part of
// the name. If an object on the path does not exist and the argument `made` is true, findParent creates the object. If
// `made` is false, findParent returns nil instead.
func findParent(object document.Fields, name string, made bool) (document.Fields, string) {
	for {
		first, rest, nested := strings.Cut(name, ".")
		if !nested || object == nil {
			return object, name
		}
		value := object[first]
		if list, isList := value.([]any); isList {
			var index string
			if index, rest, nested = strings.Cut(rest, "."); !nested {
				return nil, ""
			}
			value = itemAt(list, index)
		}
		inner, ok := value.(document.Fields)
		if !ok && made {
			inner = document.Fields{}
			object[first] = inner
		}
		object, name = inner, rest
	}
}

// itemAt returns the item of a list at the given index, which is written in decimal digits. It returns nil if the list
// has no such item.
func itemAt(list []any, index string) any {
	i, err := strconv.Atoi(index)
	if err != nil || i < 0 || i >= len(list) {
		return nil
	}
	return list[i]
}

// CountRows returns the number of rows or windows that a form shows for a list. The argument `name` is the name of the
// list. The result is at most maxRows.
func CountRows(values url.Values, name string) int {
	n, err := strconv.Atoi(values.Get(name + ".n"))
	if err != nil || n < 0 {
		return 0
	}
	return min(n, maxRows)
}

// maxRows is the maximum number of rows of a form.
const maxRows = 1000

// isUnchanged reports whether a person left a field unchanged: the submitted value equals the value that the form
// showed.
func isUnchanged(shown, posted url.Values, name string) bool {
	notBlank := func(all []string) []string {
		return slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == "" })
	}
	return slices.Equal(notBlank(shown[name]), notBlank(posted[name]))
}

// AddBlankRows returns the shown values and adds a blank row or window to each list, so that a person can add an
// object.
func AddBlankRows(shown url.Values, fields []Field) url.Values {
	opened := url.Values{}
	for name, values := range shown {
		opened[name] = slices.Clone(values)
	}
	addBlankRows(opened, fields, "")
	return opened
}

func addBlankRows(values url.Values, fields []Field, prefix string) {
	for _, f := range fields {
		name := prefix + f.Name
		switch f.Kind {
		case Windows:
			addRow(values, f, name)
		case Week:
			for _, week := range listWeeks(f, name) {
				for _, day := range Weekdays {
					at := week + "." + day
					values.Set(at+".n", strconv.Itoa(max(1, CountRows(values, at))))
				}
			}
		case Choices:
			values.Add(name, "")
		case Rows:
			for i := range CountRows(values, name) {
				addBlankRows(values, f.Fields, name+"."+strconv.Itoa(i)+".")
			}
			addRow(values, f, name)
		default: // the other kinds have no rows
		}
	}
}

// listWeeks returns the names of the inputs for weekly hours that a [Week] field has.
func listWeeks(f Field, name string) []string {
	names := []string{name}
	for _, place := range f.Places {
		names = append(names, NamePlaceHours(name, place.Value))
	}
	return names
}

// These constants are suffixes of the names of inputs and buttons for the hours of a week or of a weekday.
const (
	// OpenSwitch is the suffix of the checkbox that opens a weekday. If a form has the hidden input of a week with the
	// suffix SwitchesInput, a day without a ticked checkbox has no hours, whatever its other inputs contain.
	OpenSwitch    = ".on"
	SwitchesInput = ".switches"
	// SameHoursButton is the suffix of the button that copies the hours of the first open day of a week to the other
	// open days.
	SameHoursButton = ".same"
	// BreakButton is the suffix of the button that adds a break to a weekday.
	BreakButton = ".break"
)

// HandleButton handles a button below a list of the form. The argument `name` is the name of the button. HandleButton
// adds a blank row to the list that has this name. If `name` ends with [SameHoursButton], HandleButton copies the hours
// of a day to the other open days instead. If `name` ends with [BreakButton], it adds a break to a day. If no field has
// the name, HandleButton changes nothing.
func HandleButton(values url.Values, fields []Field, name string) {
	if week, isWeek := strings.CutSuffix(name, SameHoursButton); isWeek {
		if f, found := FindField(fields, week); found && f.Kind == Week {
			copyDay(values, week)
		}
		return
	}
	if day, isBreak := strings.CutSuffix(name, BreakButton); isBreak {
		week := day[:max(strings.LastIndexByte(day, '.'), 0)]
		if f, found := FindField(fields, week); found && f.Kind == Week && slices.Contains(Weekdays, day[len(week)+1:]) {
			addBreak(values, day)
		}
		return
	}
	switch f, _ := FindField(fields, name); f.Kind {
	case Rows:
		addRow(values, f, name)
	case Choices:
		values.Add(name, "")
	default:
		handlePictureButton(values, fields, name)
	}
}

// addRow adds a blank row or window to a list of the form. In the new row, addRow ticks the boxes that are ticked by
// default.
func addRow(values url.Values, f Field, name string) {
	n := CountRows(values, name)
	values.Set(name+".n", strconv.Itoa(n+1))
	for _, inner := range f.Fields {
		if inner.Kind == Switch {
			values.Set(name+"."+strconv.Itoa(n)+"."+inner.Name, inner.Default)
		}
		if !inner.IsTicked {
			continue
		}
		for _, option := range inner.Options {
			values.Add(name+"."+strconv.Itoa(n)+"."+inner.Name, option.Value)
		}
	}
}

// FindField returns the field to which an input belongs. The argument `name` is the name of the input. For example, the
// input rentals.0.units belongs to the field units of the list rentals.
func FindField(fields []Field, name string) (Field, bool) {
	for _, f := range fields {
		if f.Name == name || f.Kind == Week && slices.Contains(listWeeks(f, f.Name), name) {
			return f, true
		}
		inRow, isInner := strings.CutPrefix(name, f.Name+".")
		if !isInner || f.Kind != Rows {
			continue
		}
		if _, rest, nested := strings.Cut(inRow, "."); nested {
			return FindField(f.Fields, rest)
		}
	}
	return Field{}, false
}

// copyDay copies the windows of one weekday to other weekdays. The source is the first open weekday for which the
// person typed a time. The targets are all other open weekdays. In a form without switches, a weekday is open if the
// person typed a time.
func copyDay(values url.Values, week string) {
	source := slices.IndexFunc(Weekdays, func(day string) bool { return hasTypedTime(values, week+"."+day) })
	if source < 0 {
		return
	}
	from := week + "." + Weekdays[source]
	for _, day := range Weekdays {
		at := week + "." + day
		isOn := values.Has(week+SwitchesInput) && values.Get(at+OpenSwitch) == "yes"
		if at == from || !isOn && !hasTypedTime(values, at) {
			continue
		}
		rows := max(CountRows(values, at), CountRows(values, from))
		for i := range rows {
			for _, end := range []string{".from", ".to"} {
				row := "." + strconv.Itoa(i) + end
				values.Set(at+row, values.Get(from+row))
			}
		}
		values.Set(at+".n", strconv.Itoa(rows))
		values.Del(at + OvernightCheckbox)
		if values.Has(from + OvernightCheckbox) {
			values.Set(at+OvernightCheckbox, values.Get(from+OvernightCheckbox))
		}
	}
}

// addBreak splits the last window of a day in two. The person then types the start and the end of the break.
func addBreak(values url.Values, day string) {
	n := max(1, CountRows(values, day))
	last, added := day+"."+strconv.Itoa(n-1), day+"."+strconv.Itoa(n)
	values.Set(day+".n", strconv.Itoa(n+1))
	values.Set(added+".to", values.Get(last+".to"))
	values.Set(last+".to", "")
}

// hasTypedTime reports whether a person typed a time into any window of an open day.
func hasTypedTime(values url.Values, day string) bool {
	if values.Has(day[:strings.LastIndexByte(day, '.')]+SwitchesInput) && values.Get(day+OpenSwitch) != "yes" {
		return false
	}
	for i := range CountRows(values, day) {
		at := day + "." + strconv.Itoa(i)
		if values.Get(at+".from") != "" || values.Get(at+".to") != "" {
			return true
		}
	}
	return false
}
