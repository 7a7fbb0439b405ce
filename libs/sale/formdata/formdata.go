// Package formdata validates form_data: the customer's answers to the business's questions, sent
// as a JSON object. It limits the size and the depth of the object. The package does no I/O.
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

// Limits of form_data. Lengths of texts are in characters.
const (
	maxBytes = 64 << 10
	maxDepth = 16
	maxKey   = 100
	// maxValues is the maximal number of values on all levels together. Objects and arrays count as values, too.
	maxValues = 1000
	// maxDigits is the maximal number of digits before the decimal point of a number, and of digits after the point.
	maxDigits = 40
	// maxExponent is larger than the exponent of any valid number in a form_data of at most maxBytes.
	maxExponent = 1 << 20
)

// Read decodes the argument `raw`, the form_data of a request. The argument `name` is the name of
// the member of the request that holds form_data. Numbers become [json.Number]. The result is empty
// if `raw` is empty or null. Read drops the members of form_data that the caller may not set.
//
// Fault: invalid_parameter, with `name` in its message, if `raw` is not an object,
// if PostgreSQL cannot store `raw`, or if `raw` exceeds one of the limits above.
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

// maySet reports whether the caller may set a member of form_data. Only customers on the booking page may
// set members that begin with an underscore, such as _consent, the consent to messages (interface.md §4).
func maySet(from actor.Actor, member string) bool {
	return from.Kind == actor.Page || !strings.HasPrefix(member, "_")
}

// check validates values and keeps the first fault that it finds.
type check struct {
	name  string
	left  int // number of further values that are permitted
	fault error
}

func (c *check) fail(path, format string, args ...any) {
	if c.fault == nil {
		c.fault = fault.New(fault.InvalidParameter, path+": "+fmt.Sprintf(format, args...))
	}
}

// value validates a value and the values inside it, which may be nested at most `depth` levels deep.
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
		if !isStoredExactly(v.String()) {
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

// isStoredExactly reports whether a JSON number, written without an exponent, has at
// most maxDigits digits before its decimal point and at most maxDigits after it.
//
// PostgreSQL stores the numbers of a jsonb value without an exponent, with thousands of digits if necessary.
// Without this check, a short text such as 1e9999 would become thousands of digits long at each read.
func isStoredExactly(number string) bool {
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
