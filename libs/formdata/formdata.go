// Package formdata reads form_data: what somebody answers to the business's own questions, as any JSON object within bounds. It is pure.
package formdata

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/clip"
	"github.com/slotmesh/slotmesh/libs/fault"
)

// Bounds of what is taken; lengths of text are in characters.
const (
	maxBytes = 64 << 10
	maxDepth = 16
	maxKey   = 100
	// maxValues bounds the values of all levels, objects and arrays among them.
	maxValues = 1000
	// maxDigits bounds the digits of a number, on either side of its point.
	maxDigits = 40
	// maxExponent is more than any number within maxDigits needs in maxBytes.
	maxExponent = 1 << 20
)

// Read reads the member of a body that holds answers, an empty object where it is left out or null: JSON values, numbers as [json.Number].
// Members that the caller may not set are left out. Fault: invalid_parameter, which names the member, for what is no object, what the
// stores cannot keep, and what would be far larger when read than it was when sent.
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

// maySet reports whether the caller may set this member. Those that begin with an underscore, in particular the consent
// to be written to (_consent), are the customer's alone to set, on the booking page (interface.md §4).
func maySet(from actor.Actor, member string) bool {
	return from.Kind == actor.Page || !strings.HasPrefix(member, "_")
}

// check keeps the first fault.
type check struct {
	name  string
	left  int // values that there may still be
	fault error
}

func (c *check) fail(path, format string, args ...any) {
	if c.fault == nil {
		c.fault = fault.New(fault.InvalidParameter, path+": "+fmt.Sprintf(format, args...))
	}
}

// value checks a value and what it holds, down to depth levels.
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
			c.fail(clip.Text(path), "the number is out of range; send one of at most %d digits before the point and %d after it, or a text.", maxDigits, maxDigits)
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

// key checks the name of a member.
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

// keptExactly reports whether a JSON number, written out without an exponent, has at most maxDigits digits on either side
// of its point. The numeric of PostgreSQL, which jsonb keeps numbers in, holds thousands, but a few bytes such as 1e9999
// would be as many digits whenever they are read.
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
