package form

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shopspring/decimal"
	"golang.org/x/text/currency"

	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
)

// Ids of the texts that describe errors in submitted values.
const (
	RequiredValue    = "fill"
	InvalidNumber    = "number_wrong"
	InvalidAmount    = "decimal_wrong"
	InvalidValue     = "problem_other"
	ConfirmOvernight = "overnight" // asks the person to confirm that the windows end on the next day
)

// Result is the result of [Write].
type Result struct {
	FieldErrors map[string]string // id of the text that describes an error, by the name of the input
	rows        map[string][]int  // by list name: indexes of submitted rows, in the order of the written objects
	inputNames  map[string]bool   // names of the inputs
	mapInputs   map[string]string // name of the input of a row, by the name of the field that the row is in the manifest
}

// Write writes the values that a person submitted into an object. The argument `posted` has the submitted values; the
// argument `shown` has the values that [Show] returned for the same object. Write skips each submitted value that
// equals the shown value.
func Write(object document.Fields, fields []Field, shown, posted url.Values) *Result {
	plain := make(url.Values, len(posted))
	for name, values := range posted {
		for _, v := range values {
			plain.Add(name, strings.ReplaceAll(v, "\r\n", "\n"))
		}
	}
	w := &writer{
		shown:  maps.Clone(shown),
		posted: plain,
		result: &Result{FieldErrors: map[string]string{}, rows: map[string][]int{}, inputNames: map[string]bool{},
			mapInputs: map[string]string{}},
	}
	w.writeFields(object, fields, "")
	return w.result
}

type writer struct {
	shown, posted url.Values
	result        *Result
}

func (w *writer) writeFields(object document.Fields, fields []Field, prefix string) {
	for _, f := range fields {
		name := prefix + f.Name
		w.result.inputNames[name] = true
		switch f.Kind {
		case Rows:
			if f.IsMap {
				w.writeMap(object, f, name)
			} else {
				w.writeRows(object, f, name)
			}
		case Week:
			w.writeWeek(object, f, name)
		case Windows:
			at, last := findParent(object, f.Name, true)
			w.writeWindows(at, last, name, true)
		default:
			w.writeField(object, f, name)
		}
	}
}

// writeField writes the submitted value of one field into the object.
func (w *writer) writeField(object document.Fields, f Field, name string) {
	value := strings.TrimSpace(w.posted.Get(name))
	if !w.posted.Has(name) && f.Kind != Switch && f.Kind != Checkboxes && f.Kind != ObjectPicker {
		return // the submitted form does not contain the field
	}
	if f.Kind == Checkboxes && w.posted.Has(name) {
		w.posted[name] = sortAsShown(w.posted[name], w.shown[name])
	}
	if f.Required && value == "" {
		w.result.FieldErrors[name] = RequiredValue
		return
	}
	if isUnchanged(w.shown, w.posted, name) {
		return
	}
	read, wrong := w.parseValue(f, name, value)
	if wrong != "" {
		w.result.FieldErrors[name] = wrong
		return
	}
	if read == nil && f.Kind != Deadline || f.Default != "" && value == f.Default || f.Kind == Switch &&
		value == f.Default {
		removeField(object, f.Name)
		return
	}
	at, last := findParent(object, f.Name, true)
	at[last] = read // nil in a Deadline field means that customers may never act
}

// sortAsShown returns the ticked values. The values that were ticked when the form was shown come first, in the order
// of the manifest, because this order may have a meaning.
func sortAsShown(ticked, shown []string) []string {
	sorted := slices.DeleteFunc(slices.Clone(shown), func(value string) bool { return !slices.Contains(ticked, value) })
	for _, value := range ticked {
		if !slices.Contains(sorted, value) {
			sorted = append(sorted, value)
		}
	}
	return sorted
}

// removeField removes a field from an object. If the object that contained the field is then empty, removeField removes
// this object too.
func removeField(object document.Fields, name string) {
	at, last := findParent(object, name, false)
	delete(at, last)
	if i := strings.LastIndexByte(name, '.'); i > 0 && at != nil && len(at) == 0 {
		removeField(object, name[:i])
	}
}

// parseValue converts a submitted value to a value of a manifest. The first result is nil for a blank value. If the
// value is invalid, the second result is the id of the text that describes the error.
func (w *writer) parseValue(f Field, name, value string) (any, string) {
	if value == "" && f.Kind != Switch && f.Kind != Integers && !hasValues(f.Kind) {
		return nil, ""
	}
	switch f.Kind {
	case Prose:
		return toHTML(value), ""
	case Position:
		return parsePosition(value)
	case Integer, Deadline:
		return parseInteger(value)
	case Decimal:
		return parseAmount(value, f.Currency)
	case Integers:
		list := []any{}
		for part := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || r == ' ' || r == '،' }) {
			n, wrong := parseInteger(part)
			if wrong != "" {
				return nil, wrong
			}
			list = append(list, n)
		}
		return list, ""
	case Lines:
		var list []any
		for line := range strings.Lines(value) {
			if line = strings.TrimSpace(line); line != "" {
				list = append(list, line)
			}
		}
		return list, ""
	case Switch:
		return value == "yes", ""
	case Checkboxes, ObjectPicker, Pictures, Choices:
		var list []any
		if f.Kind == ObjectPicker && slices.Contains(w.posted[name], AllObjects) {
			return "all", ""
		}
		for _, item := range w.posted[name] {
			if item != "" {
				list = append(list, item)
			}
		}
		if list == nil {
			return nil, ""
		}
		return list, ""
	default: // the manifest stores values of the other kinds as a person types them
	}
	return value, ""
}

// maxAmountLength is the maximum length, in bytes, of an amount that a person types.
const maxAmountLength = 30

// parseAmount parses an amount in the notation of any language, such as 1.234,50 €. The argument `code` is the currency
// of the field. If the amount is invalid or has another currency, the second result is the id of the text that
// describes the error.
func parseAmount(value, code string) (any, string) {
	if len(value) > maxAmountLength {
		return nil, InvalidAmount
	}
	value = trimCurrency(normalizeDigits(value), code)
	if point, comma := strings.LastIndexByte(value, '.'), strings.LastIndexByte(value, ','); point >= 0 && comma >= 0 {
		grouping := ","
		if comma > point {
			grouping = "."
		}
		value = strings.ReplaceAll(value, grouping, "")
	}
	d, err := decimal.NewFromString(strings.Replace(value, ",", ".", 1))
	if err != nil {
		return nil, InvalidAmount
	}
	return json.Number(d.StringFixed(max(0, -d.Exponent()))), ""
}

// trimCurrency removes the code or the symbol of the currency from the start or the end of an amount that a person
// typed.
func trimCurrency(value, code string) string {
	signs := []string{code}
	if unit, err := currency.ParseISO(code); err == nil {
		signs = append(signs, fmt.Sprint(currency.NarrowSymbol(unit)), fmt.Sprint(currency.Symbol(unit)))
	}
	for _, sign := range signs {
		if sign == "" || len(value) < len(sign) {
			continue
		}
		if strings.EqualFold(value[:len(sign)], sign) {
			return strings.TrimSpace(value[len(sign):])
		}
		if at := len(value) - len(sign); strings.EqualFold(value[at:], sign) {
			return strings.TrimSpace(value[:at])
		}
	}
	return value
}

func parseInteger(value string) (any, string) {
	n, err := strconv.Atoi(normalizeDigits(value))
	if err != nil {
		return nil, InvalidNumber
	}
	return json.Number(strconv.Itoa(n)), ""
}

// normalizeDigits replaces Arabic and Persian digits and separators with the ASCII digits and separators that manifests
// use.
func normalizeDigits(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= '٠' && r <= '٩':
			return '0' + r - '٠'
		case r >= '۰' && r <= '۹':
			return '0' + r - '۰'
		case r == '٫':
			return '.'
		}
		return r
	}, s)
}

// writeRows writes the submitted rows of a field into a list of objects. The first submitted rows belong to the objects
// that the form showed. Each later row is a new object, unless the row is blank.
func (w *writer) writeRows(object document.Fields, f Field, name string) {
	if !w.posted.Has(name + ".n") {
		return // the submitted form does not contain the rows
	}
	at, last := findParent(object, f.Name, true)
	list, _ := at[last].([]any)
	remaining, places := []any{}, []int{}
	for i := range max(CountRows(w.posted, name), len(list)) {
		row := name + "." + strconv.Itoa(i)
		var item document.Fields
		switch {
		case i < len(list):
			if w.posted.Get(row+".remove") == "yes" {
				continue
			}
			item, _ = list[i].(document.Fields)
		case w.isBlank(f.Fields, row+"."):
			continue
		default:
			item = document.Fields{}
			maps.Copy(item, f.New)
			w.beginRow(f.Fields, row)
		}
		w.writeFields(item, f.Fields, row+".")
		if f.Key != "" && item["key"] == nil {
			item["key"] = NewKey(f.Key, item, slices.Concat(list, remaining))
		}
		remaining, places = append(remaining, item), append(places, i)
	}
	w.result.rows[name] = places
	if f.Required && len(remaining) == 0 {
		w.result.FieldErrors[name] = RequiredValue
	}
	if len(remaining) == 0 && len(list) == 0 {
		return
	}
	if len(remaining) == 0 {
		delete(at, last)
		return
	}
	at[last] = remaining
}

// writeMap writes the submitted rows of a field with IsMap into an object: the name of each row becomes the name of a
// field, and the row's value becomes the value of this field.
func (w *writer) writeMap(object document.Fields, f Field, name string) {
	at, last := findParent(object, f.Name, true)
	holder := document.Fields{}
	if list := listRows(f, at[last]); list != nil {
		holder[last] = list
	}
	f.Name = last
	w.writeRows(holder, f, name)
	written := document.Fields{}
	rows, _ := holder[last].([]any)
	for i, item := range rows {
		row, _ := item.(document.Fields)
		key, input := formatText(row["name"]), name+"."+strconv.Itoa(i)
		if places := w.result.rows[name]; i < len(places) {
			input = name + "." + strconv.Itoa(places[i])
		}
		if _, exists := written[key]; exists && key != "" {
			w.result.FieldErrors[input+".name"] = InvalidValue
		}
		written[key] = row["value"]
		w.result.mapInputs[name+"."+key] = input + ".value"
	}
	at[last] = written
	if len(written) == 0 {
		delete(at, last)
	}
}

// beginRow adds the defaults of the checkboxes in a new row to the shown values. Without these defaults, a checkbox
// that the person left at its default would count as changed.
func (w *writer) beginRow(fields []Field, row string) {
	for _, f := range fields {
		if f.Kind == Switch {
			w.shown.Set(row+"."+f.Name, f.Default)
		}
	}
}

// isBlank reports whether a person typed nothing into a row. A row can be blank even if checkboxes are ticked or
// optional choices are made. A row is not blank if a required choice is made.
func (w *writer) isBlank(fields []Field, prefix string) bool {
	for _, f := range fields {
		name := prefix + f.Name
		switch f.Kind {
		case Choice:
			if f.Required && w.posted.Get(name) != "" {
				return false
			}
		case Switch, Checkboxes, ObjectPicker:
		case Choices:
			if slices.ContainsFunc(w.posted[name], func(value string) bool { return value != "" }) {
				return false
			}
		case Windows:
			for i := range CountRows(w.posted, name) {
				if w.posted.Get(name+"."+strconv.Itoa(i)+".from") != "" {
					return false
				}
			}
		case Rows:
			for i := range CountRows(w.posted, name) {
				if !w.isBlank(f.Fields, name+"."+strconv.Itoa(i)+".") {
					return false
				}
			}
		default:
			if strings.TrimSpace(w.posted.Get(name)) != "" {
				return false
			}
		}
	}
	return true
}

func (w *writer) writeWeek(object document.Fields, f Field, name string) {
	at, last := findParent(object, f.Name, true)
	mode := w.posted.Get(name + ".mode")
	if len(f.Places) > 0 && mode != "" && mode != HoursAtPlaces {
		delete(at, placeHours)
	}
	if f.HasOwnHours {
		switch mode {
		case HoursAtPlaces:
			delete(at, last)
			w.writePlaceHours(at, f, name)
			return
		case HoursBusiness:
			delete(at, last)
			return
		case HoursNone:
			at[last] = document.Fields{}
			return
		}
	}
	days, ok := at[last].(document.Fields)
	if !ok {
		days = document.Fields{}
	}
	// If the person has just chosen own hours, the form showed the hours of the business. writeWindows skips hours that
	// the person did not change, so readWindows writes these hours as the first own hours.
	began := f.HasOwnHours && mode != w.shown.Get(name+".mode")
	for _, day := range Weekdays {
		w.result.inputNames[name+"."+day] = true
		w.applySwitch(name, day)
		w.writeWindows(days, day, name+"."+day, false)
		w.requireWindows(days, name, day)
		if _, exists := days[day]; began && !exists {
			w.readWindows(days, day, name+"."+day, false)
		}
	}
	if len(days) > 0 || ok {
		at[last] = days
	}
}

// writePlaceHours writes the hours of a member at each location. A location without hours is left out, because the
// member does not work there.
func (w *writer) writePlaceHours(member document.Fields, f Field, name string) {
	hours, _ := member[placeHours].(document.Fields)
	if hours == nil {
		hours = document.Fields{}
	}
	for _, place := range f.Places {
		days, exists := hours[place.Value].(document.Fields)
		if days == nil {
			days = document.Fields{}
		}
		isKept := exists && len(days) == 0 // the manifest names the location without hours
		for _, day := range Weekdays {
			week := NamePlaceHours(name, place.Value)
			w.applySwitch(week, day)
			w.writeWindows(days, day, week+"."+day, false)
			w.requireWindows(days, week, day)
		}
		hours[place.Value] = days
		if len(days) == 0 && !isKept {
			delete(hours, place.Value)
		}
	}
	member[placeHours] = hours
	if len(hours) == 0 {
		w.result.FieldErrors[name] = RequiredValue
	}
}

// applySwitch removes the submitted windows of a weekday that is switched off.
func (w *writer) applySwitch(week, day string) {
	at := week + "." + day
	if !w.posted.Has(week+SwitchesInput) || w.posted.Get(at+OpenSwitch) == "yes" {
		return
	}
	for i := range CountRows(w.posted, at) {
		w.posted.Del(at + "." + strconv.Itoa(i) + ".from")
		w.posted.Del(at + "." + strconv.Itoa(i) + ".to")
	}
}

// requireWindows adds an error to a weekday that is switched on but has no windows.
func (w *writer) requireWindows(days document.Fields, week, day string) {
	at := week + "." + day
	if _, exists := days[day]; !exists && w.posted.Has(week+SwitchesInput) && w.posted.Get(at+OpenSwitch) == "yes" &&
		w.result.FieldErrors[at] == "" && !hasTypedTime(w.posted, at) {
		w.result.FieldErrors[at] = RequiredValue
	}
}

// writeWindows writes the windows (periods of opening time) of a day into the field of an object. If there are no
// windows and the argument `always` is true, the method writes an empty list. If there are no windows and `always` is
// false, it removes the field.
func (w *writer) writeWindows(object document.Fields, field, name string, always bool) {
	w.result.inputNames[name] = true
	if _, exists := object[field]; exists && !w.posted.Has(name+".n") {
		return // the submitted form does not contain the windows
	}
	unchanged := true
	for i := range max(CountRows(w.shown, name), CountRows(w.posted, name)) {
		at := name + "." + strconv.Itoa(i)
		unchanged = unchanged && isUnchanged(w.shown, w.posted, at+".from") && isUnchanged(w.shown, w.posted, at+".to")
	}
	if _, exists := object[field]; unchanged && (exists || !always) {
		return
	}
	w.readWindows(object, field, name, always)
}

func (w *writer) readWindows(object document.Fields, field, name string, always bool) {
	list := []any{}
	for i := range CountRows(w.posted, name) {
		at := name + "." + strconv.Itoa(i)
		from, to := w.posted.Get(at+".from"), w.posted.Get(at+".to")
		switch {
		case from == "" && to == "":
			continue
		case from == "" || to == "":
			w.result.FieldErrors[name] = RequiredValue
			return
		case to == "00:00":
			to = "24:00"
		}
		if from > to && !w.isConfirmed(name) && computeNightHours(from, to) > maxNightHours {
			w.result.FieldErrors[name] = ConfirmOvernight
			return
		}
		w.result.rows[name] = append(w.result.rows[name], i)
		list = append(list, from+"-"+to)
	}
	if len(list) == 0 && !always {
		delete(object, field)
		return
	}
	object[field] = list
}

// maxNightHours is the maximum length, in hours, of a window over midnight that needs no confirmation by the person. A
// longer window is probably a typing error, such as a wrong closing time.
const maxNightHours = 8

// OvernightCheckbox is the suffix of the name of the checkbox by which a person confirms that windows end on the next
// day.
const OvernightCheckbox = ".overnight"

func (w *writer) isConfirmed(name string) bool { return w.posted.Get(name+OvernightCheckbox) == "yes" }

// computeNightHours returns the length, in hours, of a window that ends on the next day. The argument `from` is the
// start time of the window, and the argument `to` is the end time. The result is 0 for invalid times.
func computeNightHours(from, to string) float64 {
	start, err := time.Parse("15:04", from)
	end, err2 := time.Parse("15:04", to)
	if err != nil || err2 != nil {
		return 0
	}
	return end.AddDate(0, 0, 1).Sub(start).Hours()
}

// FindInput returns the name of the input in which a person can correct a problem of the manifest. FindInput returns ""
// if the form has no such input. The argument `path` is the path of the problem, relative to the object.
func (r *Result) FindInput(path string) string {
	name, best := "", ""
	for step := range strings.SplitSeq(strings.ReplaceAll(strings.ReplaceAll(path, "[", ".["), "]", ""), ".") {
		if index, isItem := strings.CutPrefix(step, "["); isItem {
			i, err := strconv.Atoi(index)
			if places := r.rows[name]; err == nil && i < len(places) {
				i = places[i]
			}
			step = strconv.Itoa(i)
		}
		name = strings.TrimPrefix(name+"."+step, ".")
		if input, isRow := r.mapInputs[name]; isRow {
			best = input
		}
		if r.inputNames[name] {
			best = name
		}
	}
	return best
}
