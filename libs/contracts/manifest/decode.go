package manifest

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/slotmesh/slotmesh/libs/values/plain"
)

// decoder fills a manifest from a tree of YAML values. It continues
// after a problem, so that it finds all problems in one run.
type decoder struct{ report *report }

// decode decodes the YAML value `n` into the value `v`. The argument `v`
// must be settable and have its zero value; `n` must not be an alias.
func (d *decoder) decode(n *yaml.Node, at *path, v reflect.Value, l *limits) {
	if n.Style&yaml.TaggedStyle != 0 {
		d.report.fail(at, n.Line, "has the tag %s; write the value without a tag", quote(n.Tag))
		return
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch t := v.Addr().Interface().(type) {
	case *Decimal:
		d.decodeDecimal(n, at, t, l)
		return
	case *Until:
		t.IsSet = true
		d.decodeInteger(n, at, reflect.ValueOf(&t.Hours).Elem(), l)
		return
	case *Selection:
		d.decodeSelection(n, at, t)
		return
	case encoding.TextUnmarshaler:
		d.decodeText(n, at, t)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.decodeObject(n, at, v)
	case reflect.Slice:
		d.decodeList(n, at, v, l)
	case reflect.Map:
		d.decodeMapping(n, at, v, l)
	case reflect.Int:
		d.decodeInteger(n, at, v, l)
	case reflect.Bool:
		d.decodeBool(n, at, v)
	case reflect.String:
		d.decodeString(n, at, v, l)
	default:
		panic("manifest: no decoder for " + v.Type().String())
	}
}

func (d *decoder) reportType(n *yaml.Node, at *path, want string) *Problem {
	return d.report.fail(at, n.Line, "is %s; write %s", describe(n), want)
}

func (d *decoder) decodeObject(n *yaml.Node, at *path, v reflect.Value) {
	if n.Kind != yaml.MappingNode {
		d.reportType(n, at, "an object")
		return
	}
	plan := plans[v.Type()]
	lines := make([]int, len(plan.fields)) // line of each field in the source; 0: not found yet
	for _, e := range d.readEntries(n, at) {
		i, known := plan.byName[e.key.Value]
		switch {
		case !known:
			d.reportUnknown(e.key, at, plan)
		case lines[i] > 0:
			d.report.add(at.field(e.key.Value), e.key.Line, "is written twice, first on line %d; keep one", lines[i])
		default:
			lines[i] = e.key.Line
			d.decodeField(e.value, at, v, &plan.fields[i])
		}
	}
	for i := range plan.fields {
		if f := &plan.fields[i]; f.required && lines[i] == 0 {
			d.report.fail(at.field(f.name), n.Line, "is missing; write %s", f.want).setCode(CodeMissing)
		}
	}
}

func (d *decoder) reportUnknown(key *yaml.Node, at *path, plan *plan) {
	hint := ""
	if !d.report.isFull() {
		hint = hintAtField(key.Value, plan.names)
	}
	d.report.add(at.field(key.Value), key.Line, "is no field here; %s", hint)
}

// decodeField decodes the value of one field. The value null is the
// same as an omitted field, unless the type of the field is [nullable].
func (d *decoder) decodeField(value *yaml.Node, at *path, v reflect.Value, f *field) {
	at = at.field(f.name)
	n := resolveAlias(value)
	switch {
	case !isNull(n):
		d.decode(n, at, v.FieldByIndex(f.index), &f.limits)
	case f.required:
		d.report.fail(at, value.Line, "is empty; write %s", f.want).setCode(CodeMissing)
	default:
		setNull(v.FieldByIndex(f.index))
	}
}

func setNull(v reflect.Value) {
	pointer := v.Addr()
	if v.Kind() == reflect.Pointer {
		pointer = reflect.New(v.Type().Elem())
	}
	null, ok := pointer.Interface().(nullable)
	if !ok {
		return
	}
	null.setNull()
	if v.Kind() == reflect.Pointer {
		v.Set(pointer)
	}
}

// maxFields is the maximal number of fields of one object, whether known or unknown.
const maxFields = 1000

// readEntries returns the fields of a mapping. It reports and leaves out fields whose name is not a text.
func (d *decoder) readEntries(n *yaml.Node, at *path) []entry {
	all := listEntries(n)
	if len(all) > maxFields {
		d.report.fail(at, n.Line, "has %d fields; write at most %d", len(all), maxFields)
		return nil
	}
	return slices.DeleteFunc(all, func(e entry) bool {
		bad := e.key.Kind != yaml.ScalarNode
		if bad {
			d.report.add(at, e.key.Line, "has %s as the name of a field; write text", describe(e.key))
		}
		return bad
	})
}

func (d *decoder) decodeList(n *yaml.Node, at *path, v reflect.Value, l *limits) {
	if n.Kind != yaml.SequenceNode {
		d.reportType(n, at, "a list")
		return
	}
	if !d.checkCount(n, at, len(n.Content), l, "items") {
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.Content), len(n.Content)))
	for i, item := range n.Content {
		here := at.item(i)
		node := resolveAlias(item)
		if isNull(node) {
			d.report.fail(here, item.Line, "is empty; write a value or remove the item").setCode(CodeMissing)
			continue
		}
		d.decode(node, here, v.Index(i), l)
	}
}

func (d *decoder) checkCount(n *yaml.Node, at *path, size int, l *limits, what string) bool {
	switch {
	case size < l.minItems && l.minItems > 1:
		d.report.fail(at, n.Line, "has too few %s (%d); write at least %d", what, size, l.minItems)
	case size < l.minItems:
		d.report.fail(at, n.Line, "is empty; write at least %d of its %s or leave it out", l.minItems, what).
			setCode(CodeMissing)
	case l.maxItems > 0 && size > l.maxItems:
		d.report.fail(at, n.Line, "has %d %s; write at most %d", size, what, l.maxItems).
			setCode(CodeTooMany, "Count", size, "Max", l.maxItems)
	default:
		return true
	}
	return false
}

func (d *decoder) decodeMapping(n *yaml.Node, at *path, v reflect.Value, l *limits) {
	if n.Kind != yaml.MappingNode {
		d.reportType(n, at, "an object")
		return
	}
	fields := d.readEntries(n, at)
	if !d.checkCount(n, at, len(fields), l, "entries") {
		return
	}
	v.Set(reflect.MakeMapWithSize(v.Type(), len(fields)))
	seen := make(map[string]int, len(fields))
	for _, e := range fields {
		here := at.field(e.key.Value)
		if first, isDuplicate := seen[e.key.Value]; isDuplicate {
			d.report.add(here, e.key.Line, "is written twice, first on line %d; keep one", first)
			continue
		}
		seen[e.key.Value] = e.key.Line
		d.decodeEntry(e, here, v, l)
	}
}

func (d *decoder) decodeEntry(e entry, at *path, v reflect.Value, l *limits) {
	key := reflect.New(v.Type().Key()).Elem()
	if t, ok := key.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if err := t.UnmarshalText([]byte(e.key.Value)); err != nil {
			d.report.fail(at, e.key.Line, "%s", err).setTextCode(v.Type().Key(), e.key.Value, err)
			return
		}
	} else if key.SetString(e.key.Value); e.key.Value == "" || len(e.key.Value) > 100 || hasControl(e.key.Value) {
		d.report.fail(at, e.key.Line, "has an unusable name; write a name of 1 to 100 characters")
		return
	}
	n := resolveAlias(e.value)
	if isNull(n) {
		d.report.fail(at, e.value.Line, "is empty; write a value or remove it")
		return
	}
	value := reflect.New(v.Type().Elem()).Elem()
	d.decode(n, at, value, l)
	v.SetMapIndex(key, value)
}

// decodeText decodes a scalar into a type with a method UnmarshalText.
func (d *decoder) decodeText(n *yaml.Node, at *path, t encoding.TextUnmarshaler) {
	if n.Kind != yaml.ScalarNode {
		d.reportType(n, at, describeTextType(reflect.TypeOf(t).Elem()))
		return
	}
	if err := t.UnmarshalText([]byte(n.Value)); err != nil {
		d.report.fail(at, n.Line, "%s", err).setTextCode(reflect.TypeOf(t).Elem(), n.Value, err)
		return
	}
	if !isText(n) {
		d.report.fail(at, n.Line, "is %s; write it in quotes, as %s", describe(n), quote(n.Value))
	}
}

// isText reports whether a scalar is a text. A YAML date without quotes is a text, too.
func isText(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && (n.Tag == "!!str" || n.Tag == "!!timestamp")
}

func (d *decoder) decodeString(n *yaml.Node, at *path, v reflect.Value, l *limits) {
	switch {
	case n.Kind != yaml.ScalarNode:
		d.reportType(n, at, l.describeText())
		return
	case !isText(n):
		d.report.fail(at, n.Line, "is %s; write text, in quotes: %s", describe(n), quote(n.Value))
		return
	}
	s := n.Value
	switch size := utf8.RuneCountInString(s); {
	case len(l.enum) > 0 && !slices.Contains(l.enum, s):
		d.report.fail(at, n.Line, "is %s; write %s", quote(s), joinAlternatives(l.enum))
	case v.Type() == reflect.TypeFor[Line]() && hasControl(s):
		d.report.fail(at, n.Line, "contains a line break or control character; write one line of plain text").
			setCode(CodeUnprintable)
	case v.Type() == reflect.TypeFor[Line]() && plain.HasHidden(s):
		d.report.fail(at, n.Line, "contains an invisible character or a direction mark; write the text without it").
			setCode(CodeUnprintable)
	case strings.ContainsFunc(s, isUnprintable):
		d.report.fail(at, n.Line, "contains a control character; write plain text").setCode(CodeUnprintable)
	case l.minLength > 0 && plain.IsBlank(s):
		d.report.fail(at, n.Line, "is blank; write %s", l.describeText()).setCode(CodeMissing)
	case l.maxLength > 0 && size > l.maxLength:
		d.report.fail(at, n.Line, "has %d characters; write at most %d", size, l.maxLength).
			setCode(CodeTooLong, "Count", size, "Max", l.maxLength)
	default:
		v.SetString(s)
	}
}

func hasControl(s string) bool { return strings.ContainsFunc(s, unicode.IsControl) }

func isUnprintable(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' }

func (d *decoder) decodeBool(n *yaml.Node, at *path, v reflect.Value) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
		d.reportType(n, at, "true or false")
		return
	}
	v.SetBool(strings.EqualFold(n.Value, "true"))
}

func isNumber(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && (n.Tag == "!!int" || n.Tag == "!!float")
}

func (d *decoder) decodeInteger(n *yaml.Node, at *path, v reflect.Value, l *limits) {
	if !isNumber(n) {
		d.reportType(n, at, l.describeInteger()).setRangeCode(l)
		return
	}
	i, err := strconv.ParseInt(n.Value, 10, 64)
	if err != nil || strconv.FormatInt(i, 10) != n.Value || !l.allows(i) {
		d.reportType(n, at, l.describeInteger()).setRangeCode(l)
		return
	}
	v.SetInt(i)
}

func (d *decoder) decodeDecimal(n *yaml.Node, at *path, v *Decimal, l *limits) {
	if !isNumber(n) {
		d.reportType(n, at, l.describeNumber()).setRangeCode(l)
		return
	}
	number, err := parseDecimal(n.Value)
	if err != nil || !l.allowsDecimal(number) {
		d.reportType(n, at, l.describeNumber()).setRangeCode(l)
		return
	}
	*v = number
}

func (d *decoder) decodeSelection(n *yaml.Node, at *path, v *Selection) {
	switch {
	case isText(n) && n.Value == selectAll:
		v.All = true
	case n.Kind == yaml.SequenceNode && len(n.Content) > 0:
		d.decodeList(n, at, reflect.ValueOf(&v.Keys).Elem(), &limits{maxItems: 10_000})
	default:
		d.reportType(n, at, "all, or a list of keys")
	}
}

func joinAlternatives(values []string) string {
	if len(values) == 1 {
		return values[0]
	}
	last := len(values) - 1
	return fmt.Sprintf("%s or %s", strings.Join(values[:last], ", "), values[last])
}
