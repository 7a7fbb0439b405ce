package manifest

import (
	"slices"
	"strings"

	"github.com/slotmesh/slotmesh/libs/values/rule"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

func (v *validator) ruleList(at *path) {
	once(v, at, v.m.PricingRules, "key", func(r *PricingRule) Key { return r.Key })
	for i := range v.m.PricingRules {
		r, here := &v.m.PricingRules[i], at.item(i)
		v.id(here.field("id"), r.ID, r.ObjectID(v.business))
		v.change(here, r)
		v.appliesTo(here.field("applies_to"), r.AppliesTo)
		translated(v, here, r.Translations)
		spec, known := rule.SpecOf(r.Kind)
		if !known {
			continue // reported when it was read
		}
		v.ruleFields(here, r, spec)
		v.bounds(here, r, spec)
		once(v, here.field("days"), r.Days, "", same[timespan.Weekday])
		v.ordered(here, "min", r.Min, "max", r.Max)
		v.ordered(here, "min_units", r.MinUnits, "max_units", r.MaxUnits)
	}
}

// change checks that a rule states exactly one change of the price.
func (v *validator) change(at *path, r *PricingRule) {
	var written []string
	note := func(name string, is bool) {
		if is || v.report.hasFailed(at.field(name)) {
			written = append(written, name)
		}
	}
	note("percent", r.Percent != nil)
	note("amount", r.Amount != nil)
	note("set", r.Set != nil)
	switch len(written) {
	case 0:
		v.problem(at, "changes no price; write one of percent, amount and set").
			as(CodeOneOf, "Fields", "percent amount set")
	case 1:
	default:
		v.problem(at.field(written[1]), "stands beside %s; write exactly one of percent, amount and set", written[0]).
			as(CodeExcludes, "With", written[0])
	}
	if r.Percent != nil {
		v.percent(at.field("percent"), *r.Percent)
	}
	if r.Amount != nil {
		v.amount(at.field("amount"), *r.Amount)
	}
	if r.Set != nil {
		v.amount(at.field("set"), *r.Set)
	}
}

// ruleFields checks that a rule has the fields of its kind and no others.
func (v *validator) ruleFields(at *path, r *PricingRule, spec rule.Spec) {
	some, written := len(spec.Any) == 0, r.FieldNames()
	for _, name := range rule.Fields() {
		is, needed, possible := slices.Contains(written, name), slices.Contains(spec.All, name),
			slices.Contains(spec.Any, name)
		some = some || possible && (is || v.report.hasFailed(at.field(name)))
		switch {
		case is && !needed && !possible:
			v.problem(at.field(name), "goes not with kind %s; remove it%s", r.Kind, hint(spec)).
				as(CodeExcludes, "With", "kind")
		case !is && needed:
			v.problem(at.field(name), "is missing; kind %s needs it", r.Kind).as(CodeMissing)
		}
	}
	if !some {
		v.problem(at, "has no %s; kind %s needs one of them", strings.Join(spec.Any, " or "), r.Kind).
			as(CodeOneOf, "Fields", strings.Join(spec.Any, " "))
	}
}

func hint(spec rule.Spec) string {
	fields := slices.Concat(spec.All, spec.Any)
	if len(fields) == 0 {
		return ""
	}
	return " and write " + strings.Join(fields, " and ")
}

// bounds checks that from and to have the form of the rule's kind and the right order.
func (v *validator) bounds(at *path, r *PricingRule, spec rule.Spec) {
	if spec.Span.Forms == nil {
		return
	}
	fits := true
	for _, b := range []struct {
		name  string
		bound *rule.Bound
	}{{"from", r.From}, {"to", r.To}} {
		if b.bound == nil {
			fits = false
		} else if !slices.Contains(spec.Span.Forms, b.bound.Form) {
			fits = false
			v.problem(at.field(b.name), "is %s; kind %s needs %s", quote(b.bound.String()), r.Kind, spec.Span.Want).
				as(CodeFormat, "Value", b.bound, "Example", exampleOf(spec.Span.Forms...))
		}
	}
	if fits {
		v.boundOrder(at, r)
	}
}

func (v *validator) boundOrder(at *path, r *PricingRule) {
	from, to := *r.From, *r.To
	here := at.field("to")
	switch {
	case from.Form != to.Form:
		v.problem(here, "is %s, but from is %s; write both as MM-DD, or both as YYYY-MM-DD", quote(to.String()),
			quote(from.String())).
			as(CodeFormat, "Value", to, "Example", from.Form.Example())
	case from.Form == rule.DateForm && from.Date > to.Date:
		v.problem(here, "is %s, before from (%s); end on that date or later", to, from).as(CodeOrder)
	case from.Form == rule.DateTimeForm && !from.DateTime().Before(to.DateTime()):
		v.problem(here, "is %s, which is not after from (%s); end the sale after it begins", to, from).as(CodeOrder)
	case from.Form == rule.TimeForm && from.Time == to.Time:
		v.problem(here, "is %s, the same as from; write another time, or 00:00 to 24:00 for the whole day", to).
			as(CodeOrder)
	case from.Form == rule.TimeForm:
		v.startsOnItsDay(at.field("from"), from.Time)
	}
}

func (v *validator) appliesTo(at *path, a *AppliesTo) {
	if a == nil {
		return
	}
	if a.Services == nil && a.Events == nil && a.Rentals == nil {
		v.problem(at, "names nothing; write services, events or rentals, or leave it out for everything priced")
	}
	v.selected(at.field("services"), a.Services, &v.services)
	v.selected(at.field("events"), a.Events, &v.events)
	v.selected(at.field("rentals"), a.Rentals, &v.rentals)
}

func (v *validator) selected(at *path, s *Selection, among *names) {
	if s != nil {
		v.referAll(at, s.Keys, among)
	}
}
