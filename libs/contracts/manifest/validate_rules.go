package manifest

import (
	"slices"
	"strings"

	"github.com/slotmesh/slotmesh/libs/values/rule"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

func (v *validator) checkRules(at *path) {
	checkUnique(v, at, v.m.PricingRules, "key", func(r *PricingRule) Key { return r.Key })
	for i := range v.m.PricingRules {
		r, here := &v.m.PricingRules[i], at.item(i)
		v.recordID(here.field("id"), r.ID, r.ObjectID(v.business))
		v.checkPriceChange(here, r)
		v.checkAppliesTo(here.field("applies_to"), r.AppliesTo)
		checkTranslations(v, here, r.Translations)
		spec, known := rule.SpecOf(r.Kind)
		if !known {
			continue // already reported by the decoder
		}
		v.checkRuleFields(here, r, spec)
		v.checkBounds(here, r, spec)
		checkUnique(v, here.field("days"), r.Days, "", identity[timespan.Weekday])
		v.checkOrder(here, "min", r.Min, "max", r.Max)
		v.checkOrder(here, "min_units", r.MinUnits, "max_units", r.MaxUnits)
	}
}

// checkPriceChange reports a pricing rule that does not have exactly one of percent, amount and set.
func (v *validator) checkPriceChange(at *path, r *PricingRule) {
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
		v.addProblem(at, "changes no price; write one of percent, amount and set").
			setCode(CodeOneOf, "Fields", "percent amount set")
	case 1:
	default:
		v.addProblem(at.field(written[1]), "stands beside %s; write exactly one of percent, amount and set",
			written[0]).
			setCode(CodeExcludes, "With", written[0])
	}
	if r.Percent != nil {
		v.checkPercent(at.field("percent"), *r.Percent)
	}
	if r.Amount != nil {
		v.checkAmount(at.field("amount"), *r.Amount)
	}
	if r.Set != nil {
		v.checkAmount(at.field("set"), *r.Set)
	}
}

// checkRuleFields reports fields of the condition that the kind
// of the rule needs but lacks, and fields that it must not have.
func (v *validator) checkRuleFields(at *path, r *PricingRule, spec rule.Spec) {
	some, written := len(spec.Any) == 0, r.FieldNames()
	for _, name := range rule.Fields() {
		is, needed, possible := slices.Contains(written, name), slices.Contains(spec.All, name),
			slices.Contains(spec.Any, name)
		some = some || possible && (is || v.report.hasFailed(at.field(name)))
		switch {
		case is && !needed && !possible:
			v.addProblem(at.field(name), "goes not with kind %s; remove it%s", r.Kind, hintAtFields(spec)).
				setCode(CodeExcludes, "With", "kind")
		case !is && needed:
			v.addProblem(at.field(name), "is missing; kind %s needs it", r.Kind).setCode(CodeMissing)
		}
	}
	if !some {
		v.addProblem(at, "has no %s; kind %s needs one of them", strings.Join(spec.Any, " or "), r.Kind).
			setCode(CodeOneOf, "Fields", strings.Join(spec.Any, " "))
	}
}

func hintAtFields(spec rule.Spec) string {
	fields := slices.Concat(spec.All, spec.Any)
	if len(fields) == 0 {
		return ""
	}
	return " and write " + strings.Join(fields, " and ")
}

// checkBounds checks the bounds `from` and `to` of a rule. It reports a bound without the form
// that the kind of the rule requires. It also reports bounds that are in the wrong order.
func (v *validator) checkBounds(at *path, r *PricingRule, spec rule.Spec) {
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
			v.addProblem(at.field(b.name), "is %s; kind %s needs %s", quote(b.bound.String()), r.Kind, spec.Span.Want).
				setCode(CodeFormat, "Value", b.bound, "Example", joinExamples(spec.Span.Forms...))
		}
	}
	if fits {
		v.checkBoundOrder(at, r)
	}
}

func (v *validator) checkBoundOrder(at *path, r *PricingRule) {
	from, to := *r.From, *r.To
	here := at.field("to")
	switch {
	case from.Form != to.Form:
		v.addProblem(here, "is %s, but from is %s; write both as MM-DD, or both as YYYY-MM-DD", quote(to.String()),
			quote(from.String())).
			setCode(CodeFormat, "Value", to, "Example", from.Form.Example())
	case from.Form == rule.DateForm && from.Date > to.Date:
		v.addProblem(here, "is %s, before from (%s); end on that date or later", to, from).setCode(CodeOrder)
	case from.Form == rule.DateTimeForm && !from.DateTime().Before(to.DateTime()):
		v.addProblem(here, "is %s, which is not after from (%s); end the sale after it begins", to,
			from).setCode(CodeOrder)
	case from.Form == rule.TimeForm && from.Time == to.Time:
		v.addProblem(here, "is %s, the same as from; write another time, or 00:00 to 24:00 for the whole day", to).
			setCode(CodeOrder)
	case from.Form == rule.TimeForm:
		v.checkStartTime(at.field("from"), from.Time)
	}
}

func (v *validator) checkAppliesTo(at *path, a *AppliesTo) {
	if a == nil {
		return
	}
	if a.Services == nil && a.Events == nil && a.Rentals == nil {
		v.addProblem(at, "names nothing; write services, events or rentals, or leave it out for everything priced")
	}
	v.checkSelection(at.field("services"), a.Services, &v.services)
	v.checkSelection(at.field("events"), a.Events, &v.events)
	v.checkSelection(at.field("rentals"), a.Rentals, &v.rentals)
}

func (v *validator) checkSelection(at *path, s *Selection, keys *keyList) {
	if s != nil {
		v.checkKeys(at, s.Keys, keys)
	}
}
