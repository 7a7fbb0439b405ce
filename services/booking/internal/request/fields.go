package request

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/sale/formdata"
	"github.com/slotmesh/slotmesh/libs/values/email"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/plain"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// fields reads the members of a JSON object one by one. It keeps the fault of the first invalid member.
type fields struct {
	raw   map[string]json.RawMessage
	fault error
}

func (f *fields) fail(name, format string, args ...any) {
	if f.fault == nil {
		f.fault = fault.New(fault.InvalidParameter, name+": "+fmt.Sprintf(format, args...))
	}
}

// get returns the JSON value of a member. It returns nil if the member is missing or null.
func (f *fields) get(name string) json.RawMessage {
	if raw := f.raw[name]; string(raw) != "null" {
		return raw
	}
	return nil
}

// readText reads a string member and trims it. The string must have at most `limit`
// characters and no control characters. The result is "" if the member is missing.
func (f *fields) readText(name string, limit int) string {
	raw := f.get(name)
	if raw == nil {
		return ""
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		f.fail(name, "%s is not a string; send text in quotes.", typeName(raw))
		return ""
	}
	s = strings.TrimSpace(s)
	switch {
	case utf8.RuneCountInString(s) > limit:
		f.fail(name, "the text is too long; send at most %d characters.", limit)
	case strings.ContainsFunc(s, unicode.IsControl):
		f.fail(name, "the text holds a control character; send plain text on one line.")
	}
	return s
}

// readRequired reads a text member that must not be empty. A text of invisible characters counts as empty.
func (f *fields) readRequired(name string, limit int) string {
	s := f.readText(name, limit)
	if plain.IsBlank(s) {
		f.fail(name, "this field is required and must not be empty.")
	}
	return s
}

// readName reads a required text member. The text must not contain hidden characters.
func (f *fields) readName(name string, limit int) string {
	s := f.readRequired(name, limit)
	if plain.HasHidden(s) {
		f.fail(name, plain.Refusal)
	}
	return s
}

// readVisible reads a text member that must not contain hidden characters. The result is "" if the member is missing.
func (f *fields) readVisible(name string, limit int) string {
	s := f.readText(name, limit)
	if plain.HasHidden(s) {
		f.fail(name, plain.Refusal)
	}
	return s
}

func (f *fields) readWithDefault(name string, limit int, byDefault string) string {
	if s := f.readText(name, limit); s != "" {
		return s
	}
	return byDefault
}

func (f *fields) readOptional(name string, limit int) *string {
	if s := f.readText(name, limit); s != "" {
		return &s
	}
	return nil
}

func (f *fields) readOneOf(name string, values ...string) string {
	if f.get(name) == nil {
		return ""
	}
	s := f.readText(name, maxName)
	for _, v := range values {
		if s == v {
			return s
		}
	}
	f.fail(name, "%q is not a choice; send %s, or leave it out.", clip(s), strings.Join(values, " or "))
	return ""
}

// readEmail reads an e-mail address and returns it in canonical spelling. The address must have a
// local part, an @, and a domain of at least two labels. Only the owner may leave out the address.
func (f *fields) readEmail(name string, from actor.Actor) string {
	address := f.readRequired
	if from.Kind == actor.Owner {
		address = f.readText
	}
	s := address(name, email.MaxLength)
	if s != "" && !email.Valid(s) {
		f.fail(name, "this is not an e-mail address; send one such as ana@example.com.")
		return s
	}
	return email.Canonical(s)
}

func (f *fields) readDate(name string) timespan.Date {
	s := f.readRequired(name, maxName)
	d, err := timespan.ParseDate(s)
	if err != nil {
		f.fail(name, "%s.", err)
	}
	return d
}

// readStartTime reads a time of day. It refuses 24:00, because
// a start at this time has the time 00:00 and the next date.
func (f *fields) readStartTime(name string) timespan.TimeOfDay {
	s := f.readRequired(name, maxName)
	t, err := timespan.ParseTimeOfDay(s)
	switch {
	case err != nil:
		f.fail(name, "%s.", err)
	case t == timespan.MinutesPerDay:
		f.fail(name, "nothing starts at 24:00; send 00:00 and the next date.")
	}
	return t
}

// readIDs reads an array of UUIDs. The array must have at least one element and at most `limit` elements.
func (f *fields) readIDs(name string, limit int) []uuid.UUID {
	raw := f.get(name)
	if raw == nil {
		f.fail(name, "this field is required; send an array of service ids.")
		return nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		f.fail(name, "%s is not an array; send an array of service ids.", typeName(raw))
		return nil
	}
	if len(list) == 0 || len(list) > limit {
		f.fail(name, "there are %d ids; send 1 to %d.", len(list), limit)
		return nil
	}
	ids := make([]uuid.UUID, len(list))
	for i, raw := range list {
		ids[i] = f.parseID(fmt.Sprintf("%s[%d]", name, i), raw)
	}
	return ids
}

func (f *fields) readID(name string) *uuid.UUID {
	raw := f.get(name)
	if raw == nil {
		return nil
	}
	id := f.parseID(name, raw)
	return &id
}

func (f *fields) parseID(name string, raw json.RawMessage) uuid.UUID {
	const canonical = len("00000000-0000-0000-0000-000000000000")
	var s string
	if err := json.Unmarshal(raw, &s); err != nil || string(raw) == "null" {
		f.fail(name, "%s is not a UUID; send a string such as 123e4567-e89b-42d3-a456-426614174000.", typeName(raw))
		return uuid.Nil
	}
	id, err := uuid.Parse(s)
	if err != nil || len(s) != canonical {
		f.fail(name, "%q is not a UUID; send one such as 123e4567-e89b-42d3-a456-426614174000.", clip(s))
	}
	return id
}

// readInteger reads an integer from `minimum` to `maximum`. It accepts every JSON notation of the
// integer: 2, 2.0 and 20e-1 are the same. If the member is missing, the result is `byDefault`.
func (f *fields) readInteger(name string, byDefault, minimum, maximum int) int {
	raw := f.get(name)
	if raw == nil {
		return byDefault
	}
	n, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || n != float64(int(n)) || n < float64(minimum) || n > float64(maximum) {
		f.fail(name, "this must be a whole number from %d to %d.", minimum, maximum)
		return byDefault
	}
	return int(n)
}

// readBool reads a boolean. It also accepts the strings "true" and "false",
// because the query parameters of GET /slots accept them, too.
func (f *fields) readBool(name string) bool {
	raw := f.get(name)
	switch string(raw) {
	case "", "false", `"false"`:
		return false
	case "true", `"true"`:
		return true
	}
	f.fail(name, "%s is not true or false; send one of them.", typeName(raw))
	return false
}

// readVariants reads the chosen variant of each service, as pairs "serviceId:variantId". The pairs are an
// array of strings, or one string with commas between the pairs, as in the query parameters of GET /slots.
func (f *fields) readVariants(name string) map[uuid.UUID]uuid.UUID {
	raw := f.get(name)
	if raw == nil || string(raw) == `""` || string(raw) == "[]" {
		return nil
	}
	var (
		text  string
		pairs []string
	)
	if err := json.Unmarshal(raw, &text); err == nil {
		pairs = strings.Split(text, ",")
	} else if err := json.Unmarshal(raw, &pairs); err != nil {
		f.fail(name, "%s is neither a string nor an array of strings; send pairs of ids such as "+
			"\"serviceId:variantId\".", typeName(raw))
		return nil
	}
	variants, err := catalog.ParseVariants(pairs)
	if err != nil && f.fault == nil {
		f.fault = err
	}
	return variants
}

// readForm reads the customer's answers to the questions of the business.
// It ignores answers that the actor in the argument `from` may not set.
func (f *fields) readForm(name string, from actor.Actor) map[string]any {
	form, err := formdata.Read(name, f.get(name), from)
	if err != nil && f.fault == nil {
		f.fault = err
	}
	return form
}

// typeName returns the name of a JSON value's type, for error messages.
func typeName(raw json.RawMessage) string {
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// clip shortens the caller's input to 60 characters, so that an error message can quote it.
func clip(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}
