package manifest

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/slotmesh/slotmesh/libs/values/rule"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// Code is the kind of a problem. A program that shows problems in another language has one
// sentence for each code, into which it inserts [Problem.Params]. A problem has no code if it
// concerns the text of the manifest, or if it cannot occur in a form of the owner's pages.
type Code string

// The kinds of problems that the value of a field can have. Words
// such as Min and Value are names of parameters in [Problem.Params].
const (
	CodeMissing         Code = "missing"
	CodeNumber          Code = "number"           // not a number
	CodeNumberRange     Code = "number_range"     // a number that is not from Min to Max
	CodeNumberMin       Code = "number_min"       // a number below Min
	CodePositive        Code = "positive"         // a number that is not above 0
	CodeDecimals        Code = "decimals"         // more than Max decimals
	CodeAmountTooLarge  Code = "amount_too_large" // an amount of Max or more
	CodeTooLong         Code = "too_long"         // a text of Count characters; at most Max are allowed
	CodeTooMany         Code = "too_many"         // a list of Count items; at most Max are allowed
	CodeUnprintable     Code = "unprintable"      // a control or invisible character, or a line break
	CodeFormat          Code = "format"           // Value lacks the form of Example; the author probably meant Meant
	CodeKey             Code = "key"              // Value is not a key
	CodeURL             Code = "url"              // Value is not a URL
	CodeOrigin          Code = "origin"           // Value is not an origin
	CodeWindow          Code = "window"           // empty or unreadable opening hours
	CodeContrast        Code = "contrast"         // a color that is too light; Color is the nearest valid color
	CodeTwice           Code = "twice"            // Value occurs twice
	CodeUnknown         Code = "unknown"          // a key that no object has
	CodeItself          Code = "itself"           // a rental that is its own upsell
	CodeDefaultLanguage Code = "default_language" // the list of languages lacks Language, the default language
	CodeForeignLanguage Code = "foreign_language" // a translation into Language, which is not offered
	CodeOrder           Code = "order"            // the end is not after the start
	CodeExcludes        Code = "excludes"         // the field that With names excludes this field
	CodeOneOf           Code = "one_of"           // all of Fields, separated by spaces, are missing; one is needed
	CodeSessionDay      Code = "session_day"      // a class session with neither weekday nor date
	CodeTooManyStarts   Code = "too_many_starts"  // more starts on a date than /slots lists
	CodePlaceholder     Code = "placeholder"      // Value is none of Placeholders
)

// Codes returns all codes.
func Codes() []Code {
	return []Code{
		CodeMissing, CodeNumber, CodeNumberRange, CodeNumberMin, CodePositive, CodeDecimals, CodeAmountTooLarge,
		CodeTooLong, CodeTooMany, CodeUnprintable, CodeFormat, CodeKey, CodeURL, CodeOrigin, CodeWindow, CodeContrast,
		CodeTwice, CodeUnknown, CodeItself, CodeDefaultLanguage, CodeForeignLanguage, CodeOrder, CodeExcludes,
		CodeOneOf, CodeSessionDay, CodeTooManyStarts, CodePlaceholder,
	}
}

// setCode sets the code and the parameters of a problem. The argument `params` holds
// the names and values of the parameters in turn. If `p` is nil, setCode does nothing.
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

// setRangeCode sets the code for a number that is not within the minimum and maximum of its field.
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

// textCodes maps types with a method UnmarshalText to the code for an invalid text.
var textCodes = map[reflect.Type]Code{
	reflect.TypeFor[Key]():             CodeKey,
	reflect.TypeFor[URL]():             CodeURL,
	reflect.TypeFor[Origin]():          CodeOrigin,
	reflect.TypeFor[timespan.Window](): CodeWindow,
}

// examples maps the other types with a method UnmarshalText to examples of valid texts.
var examples = map[reflect.Type]string{
	reflect.TypeFor[Language]():               "en, pt-BR",
	reflect.TypeFor[Currency]():               "EUR",
	reflect.TypeFor[Timezone]():               "Europe/Lisbon",
	reflect.TypeFor[Email]():                  "name@example.com",
	reflect.TypeFor[Color]():                  "#0b6e4f",
	reflect.TypeFor[Phone]():                  "+351 21 000 0000",
	reflect.TypeFor[Country]():                "PT",
	reflect.TypeFor[PictureID]():              "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03",
	reflect.TypeFor[timespan.Date]():          rule.DateForm.Example(),
	reflect.TypeFor[timespan.LocalDateTime](): rule.DateTimeForm.Example(),
	reflect.TypeFor[timespan.TimeOfDay]():     rule.TimeForm.Example(),
	reflect.TypeFor[rule.Bound](): joinExamples(
		rule.MonthDayForm, rule.DateForm, rule.TimeForm, rule.DateTimeForm,
	),
}

// joinExamples returns an example of each of the given forms, separated by commas.
func joinExamples(forms ...rule.Form) string {
	all := make([]string, len(forms))
	for i, f := range forms {
		all[i] = f.Example()
	}
	return strings.Join(all, ", ")
}

// setTextCode sets the code for a text that is invalid for the type `t`. The
// argument `err` is the error that the method UnmarshalText of the type returned.
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

// suggestion is an error about an invalid value. The field value holds the value that the author probably meant, or "".
type suggestion struct{ message, value string }

func (s *suggestion) Error() string { return s.message }
