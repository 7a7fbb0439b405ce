// Package request reads what requests ask for, in the same way and with the same sentences in every service: parameters of
// a query, pages of lists, ids, dates, times and JSON bodies. It knows no HTTP server; libs/server has what reads a fiber
// request by it.
//
// Every fault is invalid_parameter and begins with the name of the parameter or field, unless said otherwise. An optional
// parameter that is empty counts as left out.
package request

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/clip"
	"github.com/slotmesh/slotmesh/libs/email"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/plain"
	"github.com/slotmesh/slotmesh/libs/timespan"
)

// Invalid is a fault of kind invalid_parameter.
func Invalid(format string, args ...any) error {
	return fault.Newf(fault.InvalidParameter, format, args...)
}

// Quoted bounds how much of a caller's text a sentence repeats.
func Quoted(s string) string { return strconv.Quote(clip.Text(s)) }

// IsSlug reports whether a business may be called so: 1 to 63 lower-case letters, digits and hyphens.
func IsSlug(s string) bool {
	for i := range len(s) {
		if b := s[i]; (b < 'a' || b > 'z') && (b < '0' || b > '9') && b != '-' {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= 63
}

// Slug returns s where a business may be called so. Anything else names no business. Fault: business_not_found.
func Slug(s string) (string, error) {
	if !IsSlug(s) {
		return "", fault.New(fault.BusinessNotFound, "Business not found")
	}
	return s, nil
}

// ID reads a UUID in its usual form of 36 characters alone; the library also takes braces and URNs.
func ID(name, s string) (uuid.UUID, error) {
	const length = 36
	if len(s) == length {
		if id, err := uuid.Parse(s); err == nil {
			return id, nil
		}
	}
	return uuid.Nil, Invalid("%s: %s is not a UUID; write one such as 6f1c2a34-5b6d-4e7f-8a9b-0c1d2e3f4a5b.", name, Quoted(s))
}

// Date reads YYYY-MM-DD.
func Date(name, s string) (timespan.Date, error) {
	d, err := timespan.ParseDate(s)
	if err != nil {
		return 0, Invalid("%s: %s.", name, err)
	}
	return d, nil
}

// Time reads HH:MM. 24:00 is the end of a day.
func Time(name, s string) (timespan.TimeOfDay, error) {
	t, err := timespan.ParseTimeOfDay(s)
	if err != nil {
		return 0, Invalid("%s: %s.", name, err)
	}
	return t, nil
}

// Number reads a whole number from 1 to most.
func Number(name, s string, most int) (int, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil || n < 1 || int(n) > most {
		return 0, Invalid("%s: %s is not right; write a whole number from 1 to %d.", name, Quoted(s), most)
	}
	return int(n), nil
}

// Line reads a name, or another text, of 1 to most characters on one line, without the white space around it.
func Line(name, s string, most int) (string, error) {
	s = strings.TrimSpace(s)
	if plain.HasHidden(s) {
		return "", Invalid("%s: %s", name, plain.Refusal)
	}
	if plain.IsBlank(s) || !utf8.ValidString(s) || utf8.RuneCountInString(s) > most || strings.ContainsFunc(s, unicode.IsControl) {
		return "", Invalid("%s: write 1 to %d characters on one line.", name, most)
	}
	return s, nil
}

// OptionalLine reads a text as [Line] does; nil where it is left out or says nothing.
func OptionalLine(name string, s *string, most int) (*string, error) {
	if s == nil || plain.IsBlank(*s) {
		return nil, nil
	}
	line, err := Line(name, plain.Strip(*s), most) // copied phone numbers begin with direction marks
	return &line, err
}

// OptionalEmail reads an e-mail address in its canonical spelling; nil where it is left out or says nothing.
func OptionalEmail(name string, s *string) (*string, error) {
	if s == nil || strings.TrimSpace(*s) == "" {
		return nil, nil
	}
	trimmed := strings.TrimSpace(*s)
	if !email.Valid(trimmed) {
		return nil, Invalid("%s: this is not an e-mail address; send one such as ana@example.com, or leave it out.", name)
	}
	canonical := email.Canonical(trimmed)
	return &canonical, nil
}

// Query gives every value of a parameter in the order in which it was sent; one that is not there has none.
type Query func(name string) []string

// Text returns the one value of a parameter, "" where it is left out.
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

// Required is [Query.Text] of a parameter that must be there; what says what to write.
func (q Query) Required(name, what string) (string, error) {
	s, err := q.Text(name)
	if err == nil && s == "" {
		return "", Invalid("%s: is missing; write %s.", name, what)
	}
	return s, err
}

// Date reads a date that must be there.
func (q Query) Date(name string) (timespan.Date, error) {
	s, err := q.Required(name, "YYYY-MM-DD, such as 2027-03-01")
	if err != nil {
		return 0, err
	}
	return Date(name, s)
}

// Dates reads the first and the last date of a stretch, both of which must be there.
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

// optional reads a parameter by read; nil where it is left out.
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

// OptionalDates reads the first and the last date of a stretch; nil where one is left out, which bounds nothing.
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

// OptionalTime reads HH:MM; nil where it is left out.
func (q Query) OptionalTime(name string) (*timespan.TimeOfDay, error) { return optional(q, name, Time) }

// OptionalID reads a UUID; nil where it is left out.
func (q Query) OptionalID(name string) (*uuid.UUID, error) { return optional(q, name, ID) }

// OptionalNumber reads a whole number from 1 to most; unless where it is left out.
func (q Query) OptionalNumber(name string, most, unless int) (int, error) {
	n, err := optional(q, name, func(name, s string) (int, error) { return Number(name, s, most) })
	if n == nil {
		return unless, err
	}
	return *n, nil
}

// IDs reads UUIDs separated by commas, of which there must be one, in their order; what says what they are. How many there
// may be the caller knows: [TooMany].
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

// TooMany refuses more values of a list than most, in the words of interface.md §4.
func TooMany(name string, most int) error { return Invalid("Too many %s values (max %d).", name, most) }

// TooWide refuses a stretch of more days than most, in the words of interface.md §4.
func TooWide(most int) error { return Invalid("Window too large (max %d days).", most) }

// Flag reads an optional true or false; false where it is left out.
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
