package request

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// formCheck refuses in form_data what the store cannot keep, and what would be far larger when read than it was when sent.
type formCheck struct {
	*fields
	name string
	left int // values that there may still be
}

// value checks a value and what it holds, down to depth levels.
func (f *formCheck) value(path string, value any, depth int) {
	if f.left--; f.left < 0 {
		f.fail(f.name, "there are too many values; send at most %d.", maxFormValues)
		return
	}
	if depth == 0 {
		f.fail(f.name, "the object is nested too deeply; send at most %d levels.", maxFormDepth)
		return
	}
	switch v := value.(type) {
	case string:
		if strings.ContainsRune(v, 0) {
			f.fail(clip(path), "the text holds a NUL character; leave it out.")
		}
	case json.Number:
		if !keptExactly(v.String()) {
			f.fail(clip(path), "the number is out of range; send one of at most %d digits before the point and %d after it, or a text.", maxFormDigits, maxFormDigits)
		}
	case []any:
		for i, element := range v {
			f.value(fmt.Sprintf("%s[%d]", path, i), element, depth-1)
		}
	case map[string]any:
		for key, member := range v {
			if !f.key(key) {
				return
			}
			f.value(path+"."+key, member, depth-1)
		}
	}
}

// key checks the name of a member.
func (f *formCheck) key(key string) bool {
	switch {
	case strings.ContainsRune(key, 0):
		f.fail(f.name, "a key holds a NUL character; leave it out.")
	case utf8.RuneCountInString(key) > maxFormKey:
		f.fail(f.name, "the key %q is too long; send at most %d characters.", clip(key), maxFormKey)
	default:
		return true
	}
	return false
}

// keptExactly reports whether a JSON number, written out without an exponent, has at most maxFormDigits digits on either side
// of its point. The numeric of PostgreSQL, which jsonb keeps numbers in, holds thousands, but a few bytes such as 1e9999
// would be as many digits whenever they are read.
func keptExactly(number string) bool {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(number, "-")), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	shift := 0
	if exponent != "" {
		var err error
		if shift, err = strconv.Atoi(exponent); err != nil || shift > maxFormExponent || shift < -maxFormExponent {
			return false
		}
	}
	return len(whole)+shift <= maxFormDigits && len(fraction)-shift <= maxFormDigits
}
