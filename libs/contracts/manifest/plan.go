package manifest

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/values/rule"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// limits holds the limits in the jsonschema tag of a field. For a list of
// texts or numbers, the limits of texts and numbers apply to its items.
type limits struct {
	minimum, maximum     *int64
	minLength, maxLength int
	minItems, maxItems   int
	enum                 []string
}

// plan describes how the decoder reads the fields of one struct type.
type plan struct {
	fields []field
	names  []string
	byName map[string]int
}

type field struct {
	name     string
	index    []int
	required bool
	want     string // description of a valid value, for messages
	limits   limits
}

// plans holds a plan for every struct type in a manifest.
var plans = buildPlans(manifestType, map[reflect.Type]*plan{})

var manifestType = reflect.TypeFor[Manifest]()

func buildPlans(t reflect.Type, into map[reflect.Type]*plan) map[reflect.Type]*plan {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return buildPlans(t.Elem(), into)
	case reflect.Struct:
	default:
		return into
	}
	if into[t] != nil || typeDescriptions[t] != "" {
		return into
	}
	p := &plan{byName: map[string]int{}}
	into[t] = p
	for _, sf := range reflect.VisibleFields(t) {
		if sf.Anonymous {
			continue // its fields are read as fields of the outer struct
		}
		f := newField(sf)
		p.byName[f.name] = len(p.fields)
		p.fields, p.names = append(p.fields, f), append(p.names, f.name)
		buildPlans(sf.Type, into)
	}
	return into
}

func newField(sf reflect.StructField) field {
	name, option, _ := strings.Cut(sf.Tag.Get("json"), ",")
	f := field{name: name, index: sf.Index, required: option == "", limits: parseLimits(sf.Tag.Get("jsonschema"))}
	if sf.Type == reflect.TypeFor[rule.Kind]() {
		f.limits.enum = rule.Names()
	}
	f.want = f.limits.describeType(sf.Type)
	return f
}

func parseLimits(tag string) limits {
	var l limits
	for part := range strings.SplitSeq(tag, ",") {
		name, value, _ := strings.Cut(part, "=")
		n, _ := strconv.ParseInt(value, 10, 64)
		switch name {
		case "minimum":
			l.minimum = &n
		case "maximum":
			l.maximum = &n
		case "minLength":
			l.minLength = int(n)
		case "maxLength":
			l.maxLength = int(n)
		case "minItems":
			l.minItems = int(n)
		case "maxItems", "maxProperties":
			l.maxItems = int(n)
		case "enum":
			l.enum = append(l.enum, value)
		case "":
		default:
			panic("manifest: no rule for the tag " + part)
		}
	}
	return l
}

func (l *limits) allows(i int64) bool {
	return (l.minimum == nil || i >= *l.minimum) && (l.maximum == nil || i <= *l.maximum)
}

func (l *limits) allowsDecimal(d Decimal) bool {
	return (l.minimum == nil || d.GreaterThanOrEqual(decimal.NewFromInt(*l.minimum))) &&
		(l.maximum == nil || d.LessThanOrEqual(decimal.NewFromInt(*l.maximum)))
}

func (l *limits) describeRange() string {
	switch {
	case l.minimum != nil && l.maximum != nil:
		return fmt.Sprintf(" from %d to %d", *l.minimum, *l.maximum)
	case l.minimum != nil:
		return fmt.Sprintf(" of at least %d", *l.minimum)
	default:
		return ""
	}
}

func (l *limits) describeInteger() string { return "a whole number" + l.describeRange() }

func (l *limits) describeNumber() string { return "a plain decimal number" + l.describeRange() }

func (l *limits) describeText() string {
	if len(l.enum) > 0 {
		return joinAlternatives(l.enum)
	}
	if l.maxLength > 0 {
		return fmt.Sprintf("text of at most %d characters", l.maxLength)
	}
	return "text"
}

// typeDescriptions describes the valid values of types with a fixed form, for messages.
var typeDescriptions = map[reflect.Type]string{
	reflect.TypeFor[Key]():                    `a key of 1 to 63 of a-z, 0-9 and "-"`,
	reflect.TypeFor[ID]():                     "a UUID",
	reflect.TypeFor[Language]():               "a language such as en",
	reflect.TypeFor[Currency]():               "an ISO 4217 code such as EUR",
	reflect.TypeFor[Timezone]():               "an IANA name such as Europe/Lisbon",
	reflect.TypeFor[URL]():                    "a web address",
	reflect.TypeFor[Email]():                  "an e-mail address",
	reflect.TypeFor[Phone]():                  "a telephone number",
	reflect.TypeFor[Country]():                "a country such as PT",
	reflect.TypeFor[MessageKind]():            "a kind of message",
	reflect.TypeFor[Color]():                  "a colour such as #0b6e4f",
	reflect.TypeFor[Origin]():                 "an origin such as https://example.com",
	reflect.TypeFor[PictureID]():              "the id of an uploaded picture",
	reflect.TypeFor[Until]():                  "a number of hours, or null for never",
	reflect.TypeFor[timespan.Weekday]():       "a weekday such as mon",
	reflect.TypeFor[rule.Bound]():             "a date or time as the rule's kind needs it",
	reflect.TypeFor[Decimal]():                "a number",
	reflect.TypeFor[Selection]():              "all, or a list of keys",
	reflect.TypeFor[timespan.Date]():          "a date, YYYY-MM-DD",
	reflect.TypeFor[timespan.TimeOfDay]():     "a time, HH:MM",
	reflect.TypeFor[timespan.Window]():        "a window, HH:MM-HH:MM",
	reflect.TypeFor[timespan.LocalDateTime](): "a local date and time, YYYY-MM-DDTHH:MM",
}

func describeTextType(t reflect.Type) string { return typeDescriptions[t] }

func (l *limits) describeType(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if want := typeDescriptions[t]; want != "" {
		return want
	}
	switch t.Kind() {
	case reflect.Slice:
		return "a list"
	case reflect.Int:
		return l.describeInteger()
	case reflect.String:
		return l.describeText()
	case reflect.Bool:
		return "true or false"
	default:
		return "an object"
	}
}
