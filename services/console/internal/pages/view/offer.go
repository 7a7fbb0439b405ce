package view

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/postal"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/changes"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/form"
)

// PlaceOffer is the menu entry of the pages about the offer.
const PlaceOffer Place = "offer"

// Offering has the data that every page about the offer needs.
type Offering struct {
	Section      string // section of the offer that the page shows
	Query        string // query of the page to which undo returns, with "?"; "" for most pages
	Version      int64  // number of the version that the page shows
	ManagedBy    string // name of the other system that manages the offer; "" for console
	SavedVersion int64  // number of the version that was just published; 0 for none
	HasAffected  bool   // that version conflicts with existing bookings
	Notice       string // notice after saving; it tells the person whether customers see the change
	// BookingPage is the URL of the booking page on which customers see what was saved. It is "" if customers do not
	// see the change. If a field of a form hides the saved object, HidingForm is the path of this form, relative to the
	// path of the business. HidingFormName is the name of this form.
	BookingPage    string
	HidingForm     string
	HidingFormName string
	OtherChanges   *Difference // changes that other people published after this form was shown
	Problems       []string    // message texts about problems for which the form has no input
	Fields         document.Fields
}

// Difference has the differences between two versions of the offer. The field Changes has the first differences. The
// field Omitted is the number of differences that Changes omits.
type Difference struct {
	Changes       []changes.Change
	Omitted       int
	Before, After document.Fields
}

// Sections of the offer with objects that customers do not book at a time of their choice.
const (
	SectionEvents  = "events"
	SectionRentals = "rentals"
)

// catalogue has the sections of the offer below Catalogue, in the order of the menu. The other sections are below
// Settings.
var catalogue = []string{"services", "classes", SectionEvents, SectionRentals, "packages", "rules"}

// PlaceOfSection returns the menu entry of the pages of a section.
func PlaceOfSection(section string) Place {
	if section == "" || slices.Contains(catalogue, section) {
		return PlaceOffer
	}
	return PlaceSettings
}

// Form is a form in which a person edits an object of the offer.
type Form struct {
	Groups      []form.Group
	Values      url.Values        // current values of the inputs
	Shown       url.Values        // values of the inputs when the form was first shown
	FieldErrors map[string]string // error messages by the names of the inputs
	IsLocked    bool              // true if the person cannot change the inputs
	AddedRow    string            // name of the list to which the person has just added a row; "" for none
}

// OfferItem has the form of one object of the offer, or of settings of the business.
type OfferItem struct {
	Offering
	Form
	Title    string
	Action   string // path to which the browser sends the form, relative to the path of the business
	Back     string
	Remove   string // path of the page that removes the object; "" if the object cannot be removed
	HasWords bool   // whether the page links to the owner's words for messages
	About    string // text above the form
	Hidden   url.Values
}

// OfferVariants lists the variants of a kind of objects, before a person adds an object of one variant.
type OfferVariants struct {
	Offering
	Title, Back string
	Variants    []OfferLine
}

// OfferLine is an object in a list of the offer.
type OfferLine struct {
	Name, About, Path string
	IsOff             bool // true if customers do not see the object
	Key               string
	Mark              string // text beside the name, such as that this is the main location; "" for none
}

// OfferGroup has the objects of one category in a list of the offer.
type OfferGroup struct {
	Name  string
	Lines []OfferLine
}

// OfferList has the objects of a section of the offer, in groups.
type OfferList struct {
	Offering
	Groups []OfferGroup
	New    string
	Hint   string // text above the list
	Order  string // path of the form that changes the order; "" if people cannot change it
}

// OfferRemoval has the data of the page that asks for confirmation before an object is removed.
type OfferRemoval struct {
	Offering
	Name         string
	Action, Back string
	Losses       []string // texts about the other objects that the removal affects, with the number of these objects
}

// OfferConflict has the data of the page on which a person decides between their own changes and the changes of other
// people.
type OfferConflict struct {
	Offering
	Conflicts   []document.Conflict
	Posted      url.Values
	Action      string
	Back        string
	OverVersion int64
}

// input returns the text input of a field.
func (f Form) input(p *Page, d form.Field, name string) web.Field {
	input := web.Field{
		Name:         name,
		Label:        p.say(d.Label),
		Value:        f.Values.Get(name),
		Required:     d.Required,
		Error:        f.FieldErrors[name],
		Autocomplete: "off",
		Focus:        f.FieldErrors[name] != "" || f.hasFocus(name),
	}
	if d.Hint != "" && d.Kind != form.Switch {
		input.Hint = p.say(d.Hint)
	}
	switch {
	case d.Unit != "":
		input.Unit = p.say(d.Unit)
	case d.Currency != "":
		input.Unit = cmp.Or(currencySymbol(d.Currency), d.Currency)
	}
	switch d.Kind {
	case form.Integer, form.Deadline:
		input.Type = "number"
	case form.Date:
		input.Type = "date"
	case form.Time:
		input.Type = "time"
	case form.DateTime:
		input.Type = "datetime-local"
	case form.Address:
		input.Type = "url"
	default: // the inputs of the other kinds are text inputs
	}
	if len(d.Suggested) > 0 {
		input.List = suggestions(name)
	}
	for _, o := range d.Options {
		input.Options = append(input.Options, web.Option{Value: o.Value, Label: o.Label})
	}
	return input
}

// hoursModes returns the kinds of hours among which a person chooses in a [form.Week] field. Hours at each location need
// at least two locations, or a member who already has such hours.
func (f Form) hoursModes(d form.Field, name string) []string {
	modes := []string{form.HoursBusiness, form.HoursOwn, form.HoursNone}
	if len(d.Places) > 1 || f.Values.Get(name+".mode") == form.HoursAtPlaces {
		modes = append(modes, form.HoursAtPlaces)
	}
	return modes
}

// hasValue reports whether a value is one of the current values of the input with the name `name`.
func (f Form) hasValue(name, value string) bool {
	for _, v := range f.Values[name] {
		if v == value {
			return true
		}
	}
	return false
}

// firstOpenDay returns the name of the inputs for the first weekday that is switched on in a week, or of the first
// weekday if all are switched off. The button that copies hours stands beside this day.
func (f Form) firstOpenDay(week string) string {
	for _, day := range form.Weekdays {
		if f.hasValue(week+"."+day+form.OpenSwitch, "yes") {
			return week + "." + day
		}
	}
	return week + "." + form.Weekdays[0]
}

// hasPictures reports whether a person can choose files in the form.
func (f Form) hasPictures() bool {
	return slices.ContainsFunc(form.ListFields(f.Groups), func(d form.Field) bool {
		return d.Kind == form.Picture || d.Kind == form.Pictures
	})
}

// fileInput returns the input with which a person chooses the file for a picture.
func (f Form) fileInput(p *Page, d form.Field, name string) web.Field {
	return web.Field{
		Name: name + form.FileInput, Label: p.say(d.Label), Hint: p.say(d.Hint), Type: "file",
		Accept: "image/jpeg,image/png,image/webp,image/avif,image/gif",
		Error:  f.FieldErrors[name], Focus: f.FieldErrors[name] != "",
	}
}

// suggestions returns the id of the HTML element with the suggested values of an input.
func suggestions(name string) string { return "suggested-" + name }

// hasFocus reports whether an input is the first one of the row that the person has just added. The browser moves the
// focus to this input.
func (f Form) hasFocus(name string) bool {
	if f.AddedRow == "" {
		return false
	}
	rest, inRows := strings.CutPrefix(name, f.AddedRow+"."+strconv.Itoa(form.CountRows(f.Values, f.AddedRow)-1)+".")
	return inRows && rest == f.firstFieldName(f.AddedRow)
}

// firstFieldName returns the name of the first field of the rows with the name `name`.
func (f Form) firstFieldName(name string) string {
	if rows, found := form.FindField(form.ListFields(f.Groups), name); found && len(rows.Fields) > 0 {
		return rows.Fields[0].Name
	}
	return ""
}

func (f Form) isNew(name string, row int) bool { return row >= form.CountRows(f.Shown, name) }

func formatPlainNumber(n int64) string { return strconv.FormatInt(n, 10) }

// listResentValues returns the submitted values that a confirmation page sends again, without the answers to earlier
// confirmation pages. It omits the values whose names are in `without`. A name in `without` that ends with a dot stands
// for all names that begin with this text.
func listResentValues(posted url.Values, without ...string) url.Values {
	rest := maps.Clone(posted)
	maps.DeleteFunc(rest, func(name string, _ []string) bool {
		return slices.ContainsFunc(without, func(w string) bool {
			return name == w || strings.HasSuffix(w, ".") && strings.HasPrefix(name, w)
		})
	})
	return rest
}

// nameFieldAt returns the name of a field as forms show it: the names of the objects that contain the field, then the
// field's label. The argument `at` is the path of the field.
func (p *Page) nameFieldAt(fields document.Fields, at []string) string {
	var parts []string
	var here any = fields
	for i, step := range at {
		if key, isItem := strings.CutPrefix(step, "["); isItem {
			key = strings.TrimSuffix(key, "]")
			here = findItem(here, key)
			if i == 1 && at[0] == "locations" {
				key = p.labelField(at[0]) // a place needs no name, and people do not know its key
			}
			parts = append(parts, nameObject(here, key))
			continue
		}
		object, _ := here.(document.Fields)
		here = object[step]
		if i+1 < len(at) && strings.HasPrefix(at[i+1], "[") && i == 0 {
			continue // the name omits the list that contains the object
		}
		if i > 0 && at[i-1] == hoursAt {
			parts = append(parts, p.nameLocation(fields, step))
			continue
		}
		parts = append(parts, p.labelField(step))
	}
	return strings.Join(parts, " · ")
}

// NameField returns the name of a field as forms show it. The argument `path` is the path of the field in a problem of
// the manifest, such as services[0].price. In this path, the index of the first item of a list is 0.
func (p *Page) NameField(fields document.Fields, path string) string {
	at, here, list := splitPath(path), any(fields), ""
	for i, step := range at {
		index, isItem := strings.CutPrefix(step, "[")
		if !isItem {
			object, _ := here.(document.Fields)
			here = object[step]
			continue
		}
		n, err := strconv.Atoi(strings.TrimSuffix(index, "]"))
		items, _ := here.([]any)
		if err != nil || n < 0 || n >= len(items) {
			break
		}
		here = items[n]
		key, isNamed := document.NameOf(here)
		if !isNamed {
			key = strconv.Itoa(n + 1)
			if i == 1 {
				list = p.labelField(at[0]) + " · "
			}
		}
		at[i] = "[" + key + "]"
	}
	return list + p.nameFieldAt(fields, at)
}

func findItem(list any, key string) any {
	items, _ := list.([]any)
	for _, item := range items {
		if name, ok := document.NameOf(item); ok && name == key {
			return item
		}
	}
	return nil
}

// nameObject returns the name of an object. If the object has no name, it returns the object's label. If the object has
// no label either, it returns `key`.
func nameObject(item any, key string) string {
	object, _ := item.(document.Fields)
	for _, field := range []string{"name", "label"} {
		if name, ok := object[field].(string); ok && name != "" {
			return name
		}
	}
	return key
}

// describeChange returns the label of a changed field, preceded by the names of the objects that contain the field. It
// uses the objects' names in the new version. If the field was removed, it uses their names in the old version.
func (p *Page) describeChange(d *Difference, c changes.Change) string {
	if c.Change == changes.Removed {
		return p.nameFieldAt(d.Before, splitPath(c.Path))
	}
	return p.nameFieldAt(d.After, splitPath(c.Path))
}

// referencedLists maps the name of a field that contains keys of objects to the name of the list with these objects.
var referencedLists = map[string]string{
	"staff": "staff", "services": "services", "events": "events", "rentals": "rentals", "rental": "rentals",
	"packages": "packages", "pricing_rules": "pricing_rules", "locations": "locations", "location": "locations",
}

// replaceKeys returns a value of the offer as people know it. It replaces the keys of objects by the objects' names,
// and the values of options by the options' labels. If the value is an object, replaceKeys also replaces the keys and
// option values in the fields of this object. The argument `path` is the path of the value.
func (p *Page) replaceKeys(fields document.Fields, path string, value any) any {
	field := path[strings.LastIndexByte(path, '.')+1:]
	list := fields[referencedLists[field]]
	switch value := value.(type) {
	case string:
		if (field == "country" || field == "countries") && postal.IsCountry(value) {
			return p.Words.Country(value)
		}
		switch label := p.labelOption(path, value); {
		case label != "":
			return label
		case referencedLists[field] == "locations":
			return p.nameLocation(fields, value)
		case referencedLists[field] != "":
			return nameObject(findItem(list, value), value)
		}
	case []string:
		return p.replaceKeys(fields, path, toAny(value))
	case []any:
		names := make([]any, len(value))
		for i, item := range value {
			names[i] = p.replaceKeys(fields, path, item)
		}
		return names
	case map[string]any:
		inner := make(document.Fields, len(value))
		for name, v := range value {
			if field == hoursAt {
				inner[p.nameLocation(fields, name)] = p.replaceKeys(fields, path+"."+name, v)
				continue
			}
			inner[name] = p.replaceKeys(fields, path+"."+name, v)
		}
		return inner
	}
	return value
}

// hoursAt is the name of a member's field with the hours at each location, by the key of the location.
const hoursAt = "at"

// nameLocation returns the name of a location as customers know it: a location without a name has the name of the
// business.
func (p *Page) nameLocation(fields document.Fields, key string) string {
	business, _ := fields["name"].(string)
	if item := findItem(fields["locations"], key); item != nil {
		return nameObject(item, business)
	}
	return key
}

func toAny(values []string) []any {
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = v
	}
	return list
}

// labelField returns the label of a field. If no form has the field, it returns the field's name with spaces.
func (p *Page) labelField(field string) string {
	if day := slices.Index(form.Weekdays, field); day >= 0 {
		return p.Words.WholeWeekday(time.Weekday((day + 1) % len(form.Weekdays)))
	}
	if label, ok := FieldLabels[field]; ok {
		return p.say(label)
	}
	return strings.ReplaceAll(field, "_", " ")
}

// FieldLabels maps the names of the fields of all forms of the offer to the ids of their labels.
var FieldLabels = map[string]string{
	"hours": "offer_hours", "description": "offer_description", "privacy": "offer_privacy",
	"locations": "offer_location", "address": "offer_address", "lat": "offer_latitude", "lon": "offer_longitude",
	"contact": "offer_contact", "legal": "offer_legal", "at": "offer_hours_locations",
}

// optionSentences maps the name of a field and one of its values to the id of the message text for this value.
var optionSentences = map[string]map[string]string{}

// NoteOptions registers the labels of a field's options, for the pages that list changes.
func NoteOptions(f form.Field) {
	for _, o := range f.Options {
		if o.Sentence == "" {
			continue
		}
		if optionSentences[f.Name] == nil {
			optionSentences[f.Name] = map[string]string{}
		}
		value := o.Value
		if value == form.AllObjects {
			value = "all" // the manifest has "all" for all objects
		}
		optionSentences[f.Name][value] = o.Sentence
	}
}

// labelOption returns the label of an option. The argument `path` is the path of a field, and `value` is the option's
// value. labelOption returns "" if the field has no such option.
func (p *Page) labelOption(path, value string) string {
	field := path[strings.LastIndexByte(path, '.')+1:]
	if (field == "weekday" || field == "days") && slices.Contains(form.Weekdays, value) {
		return p.labelField(value)
	}
	for name, sentences := range optionSentences {
		isField := path == name || strings.HasSuffix(path, "."+name)
		if sentence, has := sentences[value]; isField && has {
			return p.say(sentence)
		}
	}
	return ""
}

// FormatValue formats a date, a time or hours of the manifest in the format of the reader's region. It returns any
// other text unchanged.
func (p *Page) FormatValue(value string) string {
	if date, err := timespan.ParseDate(value); err == nil {
		return p.Words.ShortDate(toNoon(date))
	}
	if at, err := timespan.ParseTimeOfDay(value); err == nil {
		return p.formatClock(int(at))
	}
	if moment, err := timespan.ParseLocalDateTime(value); err == nil {
		return p.formatLocal(&moment)
	}
	if hours, err := timespan.ParseWindow(value); err == nil {
		return p.formatClock(int(hours.From)) + " – " + p.formatClock(int(hours.To))
	}
	if catalog.IsPictureID(value) {
		return p.say("offer_picture")
	}
	return value
}

// arrow returns an arrow from an old to a new value. The arrow has the reading direction of the language.
func (p *Page) arrow() string {
	if p.Words.Direction() == "rtl" {
		return "←"
	}
	return "→"
}

// maxValueLength is the maximum number of characters of a value in a list of changes.
const maxValueLength = 160

// shortenValue formats a value of the offer. It cuts the text after maxValueLength characters.
func (p *Page) shortenValue(value any) string {
	text := []rune(p.formatValue(value))
	if len(text) > maxValueLength {
		return string(text[:maxValueLength]) + "…"
	}
	return string(text)
}

// formatValue formats a value of the offer as a text.
func (p *Page) formatValue(value any) string {
	switch value := value.(type) {
	case nil:
		return p.say("offer_nothing")
	case string:
		return p.FormatValue(value)
	case bool:
		if value {
			return p.say("yes")
		}
		return p.say("no")
	case json.Number:
		return value.String()
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	case []string:
		return strings.Join(value, ", ")
	case []any:
		parts := make([]string, len(value))
		for i, item := range value {
			parts[i] = p.formatValue(item)
		}
		if len(parts) == 0 {
			return p.say("offer_nothing")
		}
		return strings.Join(parts, ", ")
	case document.Fields:
		if name := nameObject(value, ""); name != "" {
			return name
		}
		return p.formatFields(value)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(text)
}

// formatFields formats an object that has no name, field by field. Fields of weekdays come in the order of the week,
// and other fields in the order of their names.
func (p *Page) formatFields(object document.Fields) string {
	if object["kind"] == catalog.KindPlace { // a place needs no name; people do not know its key and kind
		object = maps.Clone(object)
		delete(object, "key")
		delete(object, "kind")
	}
	names := slices.SortedFunc(maps.Keys(object), func(a, b string) int {
		return cmp.Or(slices.Index(form.Weekdays, a)-slices.Index(form.Weekdays, b), strings.Compare(a, b))
	})
	for i, name := range names {
		names[i] = p.labelField(name) + " " + p.formatValue(object[name])
	}
	return strings.Join(names, "; ")
}

// RefusedSectionText returns the message text about a section of the manifest that the signed-in person's role may not
// change.
func (p *Page) RefusedSectionText(section string) string {
	if section == "account" {
		return p.say("version_account")
	}
	return p.Words.With("version_section", "Name", p.labelField(section[strings.LastIndex(section, ".")+1:]))
}

// splitPath splits the path of a field, such as services[cut].price, into its parts. A key keeps its opening bracket.
func splitPath(path string) []string {
	return strings.Split(strings.ReplaceAll(path, "[", ".["), ".")
}
