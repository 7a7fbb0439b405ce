package manifest

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/slotmesh/slotmesh/libs/values/rule"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Code is the kind of a problem. A program that shows problems in another language
// has one sentence for each code, into which it inserts [Problem.Params]. Problems
// without a code concern the text of the manifest, or cannot occur in a form.
type Code string

// The kinds of problems that the value of a field can have, each with the names of its parameters.
const (
	CodeMissing         Code = "missing"
	CodeNumber          Code = "number"           // not a number
	CodeNumberRange     Code = "number_range"     // Min, Max
	CodeNumberMin       Code = "number_min"       // Min
	CodePositive        Code = "positive"         // a number that must be above 0
	CodeDecimals        Code = "decimals"         // Max: the decimals that are possible
	CodeAmountTooLarge  Code = "amount_too_large" // Max: the smallest amount that is too large
	CodeTooLong         Code = "too_long"         // Count and Max: characters
	CodeTooMany         Code = "too_many"         // Count and Max: items
	CodeUnprintable     Code = "unprintable"      // a control character, an invisible one, or a line break in one line
	CodeFormat          Code = "format"           // Value; Example; Meant, if one was found: what was probably meant
	CodeKey             Code = "key"              // Value
	CodeURL             Code = "url"              // Value
	CodeOrigin          Code = "origin"           // Value
	CodeWindow          Code = "window"           // hours that are empty or cannot be read
	CodeContrast        Code = "contrast"         // Color: one that is dark enough
	CodeTwice           Code = "twice"            // Value
	CodeUnknown         Code = "unknown"          // a key that names nothing
	CodeItself          Code = "itself"           // a rental that goes with itself
	CodeDefaultLanguage Code = "default_language" // Language: the default one, which the languages lack
	CodeForeignLanguage Code = "foreign_language" // Language: one of translations that the business does not offer
	CodeOrder           Code = "order"            // an end that does not follow its beginning
	CodeExcludes        Code = "excludes"         // With: the field that does not go together with this one
	CodeOneOf           Code = "one_of"           // Fields: names, separated by spaces, of which one is missing
	CodeSessionDay      Code = "session_day"      // a class session with neither weekday nor date
	CodeTooManyStarts   Code = "too_many_starts"  // more starts on a date than an answer lists
)

// Codes returns all codes.
func Codes() []Code {
	return []Code{
		CodeMissing, CodeNumber, CodeNumberRange, CodeNumberMin, CodePositive, CodeDecimals, CodeAmountTooLarge,
		CodeTooLong, CodeTooMany, CodeUnprintable, CodeFormat, CodeKey, CodeURL, CodeOrigin, CodeWindow, CodeContrast,
		CodeTwice, CodeUnknown, CodeItself, CodeDefaultLanguage, CodeForeignLanguage, CodeOrder, CodeExcludes,
		CodeOneOf, CodeSessionDay, CodeTooManyStarts,
	}
}

// setCode sets the code and the parameters of a problem. params holds names and values in turn. It does nothing if p is
// nil.
func (p *Problem) setCode(code Code, params ...any) {
	if p == nil {
		return
	}
	p.Code, p.Params = code, make(map[string]string, len(params)/2)
	for i := 0; i+1 < len(params); i += 2 {
		if value := fmt.Sprint(params[i+1]); value != "" {
			p.Params[fmt.Sprint(params[i])] = value
		}
	}
}

// setRangeCode sets the code for a number that is less than the minimum or greater than the maximum of its field.
func (p *Problem) setRangeCode(l *limits) {
	switch {
	case l.minimum != nil && l.maximum != nil:
		p.setCode(CodeNumberRange, "Min", *l.minimum, "Max", *l.maximum)
	case l.minimum != nil:
		p.setCode(CodeNumberMin, "Min", *l.minimum)
	default:
		p.setCode(CodeNumber)
	}
}

// textCodes maps types that parse their own text to the code of an invalid text.
var textCodes = map[reflect.Type]Code{
	reflect.TypeFor[Key]():             CodeKey,
	reflect.TypeFor[URL]():             CodeURL,
	reflect.TypeFor[Origin]():          CodeOrigin,
	reflect.TypeFor[timespan.Window](): CodeWindow,
}

// examples maps the other types that parse their own text to example values.
var examples = map[reflect.Type]string{
	reflect.TypeFor[Language]():               "en, pt-BR",
	reflect.TypeFor[Currency]():               "EUR",
	reflect.TypeFor[Timezone]():               "Europe/Lisbon",
	reflect.TypeFor[Email]():                  "name@example.com",
	reflect.TypeFor[Color]():                  "#0b6e4f",
	reflect.TypeFor[timespan.Date]():          rule.DateForm.Example(),
	reflect.TypeFor[timespan.LocalDateTime](): rule.DateTimeForm.Example(),
	reflect.TypeFor[timespan.TimeOfDay]():     rule.TimeForm.Example(),
	reflect.TypeFor[rule.Bound](): joinExamples(
		rule.MonthDayForm, rule.DateForm, rule.TimeForm, rule.DateTimeForm,
	),
}

// joinExamples returns an example of each form.
func joinExamples(forms ...rule.Form) string {
	all := make([]string, len(forms))
	for i, f := range forms {
		all[i] = f.Example()
	}
	return strings.Join(all, ", ")
}

// setTextCode sets the code for a text that the type t cannot parse. err is the error that the type returned.
func (p *Problem) setTextCode(t reflect.Type, value string, err error) {
	if code, has := textCodes[t]; has {
		p.setCode(code, "Value", shorten(value))
		return
	}
	example, has := examples[t]
	if !has {
		return
	}
	meant := ""
	var suggested *suggestion
	if errors.As(err, &suggested) {
		meant = suggested.value
	}
	p.setCode(CodeFormat, "Value", shorten(value), "Example", example, "Meant", meant)
}

// suggestion is an error about a value. The field meant is the value that the author probably wanted to write, or "".
type suggestion struct{ message, value string }

func (s *suggestion) Error() string { return s.message }
