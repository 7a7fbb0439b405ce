// Package request parses the input of HTTP requests with the same rules and error sentences in
// every service. It covers query parameters, pages of lists, ids, dates, times and JSON bodies.
// The package depends on no HTTP server. libs/platform/server applies it to fiber requests.
//
// Every fault has the code invalid_parameter, and its sentence begins with the name of the
// parameter or field, unless stated otherwise. An empty optional parameter counts as omitted.
package request

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/clip"
	"github.com/slotmesh/slotmesh/libs/values/email"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/plain"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Invalid returns a fault with the code invalid_parameter and a formatted sentence.
func Invalid(format string, args ...any) error {
	return fault.Newf(fault.InvalidParameter, format, args...)
}

// Quote returns a text of the client as an error sentence contains it: in quotes, and shortened if it is long.
func Quote(s string) string { return strconv.Quote(clip.Text(s)) }

// IsSlug reports whether `s` has the form of a slug: 1 to 63 lower-case letters, digits and hyphens.
func IsSlug(s string) bool {
	for i := range len(s) {
		if b := s[i]; (b < 'a' || b > 'z') && (b < '0' || b > '9') && b != '-' {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= 63
}

// Slug returns `s` if `s` has the form of a slug. A text without this form cannot be the slug of a business. In this
// case, Slug returns the fault business_not_found.
func Slug(s string) (string, error) {
	if !IsSlug(s) {
		return "", fault.New(fault.BusinessNotFound, "Business not found")
	}
	return s, nil
}

// ID parses a UUID in its usual form of 36 characters. It rejects other forms that the package uuid
// accepts, such as URNs. The argument `name` is the name of the parameter in the error sentence.
func ID(name, s string) (uuid.UUID, error) {
	const length = 36
	if len(s) == length {
		if id, err := uuid.Parse(s); err == nil {
			return id, nil
		}
	}
	return uuid.Nil, Invalid("%s: %s is not a UUID; write one such as 6f1c2a34-5b6d-4e7f-8a9b-0c1d2e3f4a5b.", name,
		Quote(s))
}

// Date parses a date of the form YYYY-MM-DD.
func Date(name, s string) (timespan.Date, error) {
	d, err := timespan.ParseDate(s)
	if err != nil {
		return 0, Invalid("%s: %s.", name, err)
	}
	return d, nil
}

// Time parses a time of the form HH:MM. The time 24:00 is the end of a day.
func Time(name, s string) (timespan.TimeOfDay, error) {
	t, err := timespan.ParseTimeOfDay(s)
	if err != nil {
		return 0, Invalid("%s: %s.", name, err)
	}
	return t, nil
}

// Number parses a whole number from 1 to `most`.
func Number(name, s string, most int) (int, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil || n < 1 || int(n) > most {
		return 0, Invalid("%s: %s is not right; write a whole number from 1 to %d.", name, Quote(s), most)
	}
	return int(n), nil
}

// Line returns a text without surrounding white space. The text must be on one line and have between 1 and `most`
// characters.
func Line(name, s string, most int) (string, error) {
	s = strings.TrimSpace(s)
	if plain.HasHidden(s) {
		return "", Invalid("%s: %s", name, plain.Refusal)
	}
	if plain.IsBlank(s) || !utf8.ValidString(s) || utf8.RuneCountInString(s) > most || strings.ContainsFunc(s,
		unicode.IsControl) {
		return "", Invalid("%s: write 1 to %d characters on one line.", name, most)
	}
	return s, nil
}

// OptionalLine returns a text as [Line] does, or nil if the text is omitted or blank.
func OptionalLine(name string, s *string, most int) (*string, error) {
	if s == nil || plain.IsBlank(*s) {
		return nil, nil
	}
	line, err := Line(name, plain.Strip(*s), most) // copied phone numbers often begin with invisible direction marks
	return &line, err
}

// OptionalEmail returns the canonical spelling of an e-mail address, or nil if the address is omitted or blank.
func OptionalEmail(name string, s *string) (*string, error) {
	if s == nil || strings.TrimSpace(*s) == "" {
		return nil, nil
	}
	trimmed := strings.TrimSpace(*s)
	if !email.Valid(trimmed) {
		return nil, Invalid("%s: this is not an e-mail address; send one such as ana@example.com, or leave it out.",
			name)
	}
	canonical := email.Canonical(trimmed)
	return &canonical, nil
}

// Query is a function that returns all values of a query parameter in the order in which the client sent them. It
// returns no value if the parameter is absent.
type Query func(name string) []string

// Text returns the value of a parameter, or "" if the parameter
// is omitted. Sending the parameter more than once is a fault.
func (q Query) Text(name string) (string, error) {
	all := q(name)
	switch {
	case len(all) == 0:
		return "", nil
	case len(all) > 1:
		return "", Invalid("%s: is given %d times; give it once.", name, len(all))
	case !utf8.ValidString(all[0]) || strings.ContainsRune(all[0], 0):
		return "", Invalid("%s: is no text; write it in UTF-8 without NUL bytes.", name)
	}
	return all[0], nil
}

// Required returns the value of a parameter, as [Query.Text] does. If the parameter is
// omitted, the error sentence contains the argument `what`, which describes valid values.
func (q Query) Required(name, what string) (string, error) {
	s, err := q.Text(name)
	if err == nil && s == "" {
		return "", Invalid("%s: is missing; write %s.", name, what)
	}
	return s, err
}

// Date reads a required date, YYYY-MM-DD.
func (q Query) Date(name string) (timespan.Date, error) {
	s, err := q.Required(name, "YYYY-MM-DD, such as 2027-03-01")
	if err != nil {
		return 0, err
	}
	return Date(name, s)
}

// Dates reads the first and the last date of a period. Both dates are required.
func (q Query) Dates(start, end string) (timespan.Date, timespan.Date, error) {
	from, err := q.Date(start)
	if err != nil {
		return 0, 0, err
	}
	to, err := q.Date(end)
	if err != nil {
		return 0, 0, err
	}
	if to < from {
		return 0, 0, Invalid("%s: %s lies before %s, %s; give a date on or after it.", end, to, start, from)
	}
	return from, to, nil
}

// optional parses a parameter with the function `read`. It returns nil if the parameter is omitted.
func optional[T any](q Query, name string, read func(name, s string) (T, error)) (*T, error) {
	s, err := q.Text(name)
	if err != nil || s == "" {
		return nil, err
	}
	value, err := read(name, s)
	if err != nil {
		return nil, err
	}
	return &value, nil
}

// OptionalDates reads the first and the last date of a period. A date is nil
// if its parameter is omitted; the period then has no bound on that side.
func (q Query) OptionalDates(start, end string) (*timespan.Date, *timespan.Date, error) {
	from, err := optional(q, start, Date)
	if err != nil {
		return nil, nil, err
	}
	to, err := optional(q, end, Date)
	if err != nil {
		return nil, nil, err
	}
	if from != nil && to != nil && *to < *from {
		return nil, nil, Invalid("%s: %s lies before %s, %s; give a date on or after it.", end, to, start, from)
	}
	return from, to, nil
}

// OptionalTime reads a time of the form HH:MM, or returns nil if the parameter is omitted.
func (q Query) OptionalTime(name string) (*timespan.TimeOfDay, error) { return optional(q, name, Time) }

// OptionalID reads a UUID, or returns nil if the parameter is omitted.
func (q Query) OptionalID(name string) (*uuid.UUID, error) { return optional(q, name, ID) }

// OptionalNumber reads a whole number from 1 to `most`. If the parameter is omitted, OptionalNumber returns the
// default, which is the argument `unless`.
func (q Query) OptionalNumber(name string, most, unless int) (int, error) {
	n, err := optional(q, name, func(name, s string) (int, error) { return Number(name, s, most) })
	if n == nil {
		return unless, err
	}
	return *n, nil
}

// IDs reads one or more UUIDs that are separated by commas, and keeps their order.
// In the error sentence, the argument `what` names the objects that have these ids.
// The caller must check the number of ids, and report an excess with [TooMany].
func (q Query) IDs(name, what string) ([]uuid.UUID, error) {
	s, err := q.Required(name, what+"'s id, or several separated by commas")
	if err != nil {
		return nil, err
	}
	var ids []uuid.UUID
	for part := range strings.SplitSeq(s, ",") {
		id, err := ID(name, part)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// TooMany returns the fault for a parameter with more than `most` values. interface.md §4 prescribes the sentence.
func TooMany(name string, most int) error { return Invalid("Too many %s values (max %d).", name, most) }

// TooWide returns the fault for a period of more than `most` days. interface.md §4 prescribes the sentence.
func TooWide(most int) error { return Invalid("Window too large (max %d days).", most) }

// Flag reads an optional parameter with the value true or false. It returns false if the parameter is omitted.
func (q Query) Flag(name string) (bool, error) {
	s, err := q.Text(name)
	if err != nil {
		return false, err
	}
	switch s {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	}
	return false, Invalid("%s: write true or false, or leave it out.", name)
}
