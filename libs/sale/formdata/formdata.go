// Package formdata validates form_data, the customer's answers to the business's questions.
// form_data is a JSON object of limited size and depth. The package does no I/O.
package formdata

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/values/clip"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Bounds of form_data; lengths of text are in characters.
const (
	maxBytes = 64 << 10
	maxDepth = 16
	maxKey   = 100
	// maxValues bounds the number of values on all levels, including objects and arrays.
	maxValues = 1000
	// maxDigits bounds the digits of a number before and after its point.
	maxDigits = 40
	// maxExponent is larger than the exponent of any valid number that fits into maxBytes.
	maxExponent = 1 << 20
)

// Read decodes form_data from raw, the value of the body's member name. Numbers become [json.Number]. The result
// is empty if the member is omitted or null. Read drops the members of form_data that the caller may not set.
//
// Fault: invalid_parameter, which names the member, if raw is not an object,
// if PostgreSQL cannot store it, or if it exceeds a bound of this file.
func Read(name string, raw json.RawMessage, from actor.Actor) (map[string]any, error) {
	form := map[string]any{}
	if len(raw) == 0 || string(raw) == "null" {
		return form, nil
	}
	c := check{name: name, left: maxValues}
	if len(raw) > maxBytes {
		c.fail(name, "the object is too large; send at most %d bytes.", maxBytes)
		return nil, c.fault
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	if err := decoder.Decode(&form); err != nil {
		c.fail(name, "send an object such as {\"notes\": \"…\"}.")
		return nil, c.fault
	}
	maps.DeleteFunc(form, func(member string, _ any) bool { return !maySet(from, member) })
	if c.value(name, form, maxDepth); c.fault != nil {
		return nil, c.fault
	}
	return form, nil
}

// maySet reports whether the caller may set a member of form_data. Members that begin with an underscore, such
// as the consent to messages (_consent), are reserved for customers on the booking page (interface.md §4).
func maySet(from actor.Actor, member string) bool {
	return from.Kind == actor.Page || !strings.HasPrefix(member, "_")
}

// check validates values and keeps the first fault.
type check struct {
	name  string
	left  int // remaining number of permitted values
	fault error
}

func (c *check) fail(path, format string, args ...any) {
	if c.fault == nil {
		c.fault = fault.New(fault.InvalidParameter, path+": "+fmt.Sprintf(format, args...))
	}
}

// value validates a value and its contents, down to depth levels.
func (c *check) value(path string, value any, depth int) {
	if c.left--; c.left < 0 {
		c.fail(c.name, "there are too many values; send at most %d.", maxValues)
		return
	}
	if depth == 0 {
		c.fail(c.name, "the object is nested too deeply; send at most %d levels.", maxDepth)
		return
	}
	switch v := value.(type) {
	case string:
		if strings.ContainsRune(v, 0) {
			c.fail(clip.Text(path), "the text holds a NUL character; leave it out.")
		}
	case json.Number:
		if !keptExactly(v.String()) {
			c.fail(clip.Text(path), "the number is out of range; send one of at most %d digits before the point and "+
				"%d after it, or a text.", maxDigits, maxDigits)
		}
	case []any:
		for i, element := range v {
			c.value(fmt.Sprintf("%s[%d]", path, i), element, depth-1)
		}
	case map[string]any:
		for key, member := range v {
			if !c.key(key) {
				return
			}
			c.value(path+"."+key, member, depth-1)
		}
	}
}

// key validates the name of a member.
func (c *check) key(key string) bool {
	switch {
	case strings.ContainsRune(key, 0):
		c.fail(c.name, "a key holds a NUL character; leave it out.")
	case utf8.RuneCountInString(key) > maxKey:
		c.fail(c.name, "the key %q is too long; send at most %d characters.", clip.Text(key), maxKey)
	default:
		return true
	}
	return false
}

// keptExactly reports whether a JSON number has at most maxDigits digits
// before and after its point when it is written without an exponent.
//
// PostgreSQL stores numbers of jsonb as numeric, with thousands of digits if
// necessary. A short text such as 1e9999 would become that long each time it is read.
func keptExactly(number string) bool {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(number, "-")), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	shift := 0
	if exponent != "" {
		var err error
		if shift, err = strconv.Atoi(exponent); err != nil || shift > maxExponent || shift < -maxExponent {
			return false
		}
	}
	return len(whole)+shift <= maxDigits && len(fraction)-shift <= maxDigits
}
