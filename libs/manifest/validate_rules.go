package manifest

import (
	"slices"
	"strings"
)

// ruleKind says which of the fields that belong to a kind a rule takes.
type ruleKind struct {
	all []string // every one of them is needed
	any []string // at least one of them is needed
}

var ruleKinds = map[string]ruleKind{
	"seasonal":      {all: []string{"from", "to"}},
	"day_of_week":   {all: []string{"days"}},
	"time_of_day":   {all: []string{"from", "to"}},
	"flash_sale":    {all: []string{"from", "to"}},
	"early_bird":    {all: []string{"min_days_before"}},
	"last_minute":   {all: []string{"max_days_before"}},
	"party_size":    {any: []string{"min", "max"}},
	"first_booking": {},
	"duration":      {any: []string{"min_units", "max_units"}},
}

// conditions are the fields of a rule that belong to some kinds only, and whether they are written.
func (r *PricingRule) conditions() []condition {
	return []condition{
		{"from", r.From != nil}, {"to", r.To != nil}, {"days", r.Days != nil},
		{"min_days_before", r.MinDaysBefore != nil}, {"max_days_before", r.MaxDaysBefore != nil},
		{"min", r.Min != nil}, {"max", r.Max != nil},
		{"min_units", r.MinUnits != nil}, {"max_units", r.MaxUnits != nil},
	}
}

type condition struct {
	name    string
	written bool
}

func (v *validator) ruleList(at *path) {
	once(v, at, v.m.PricingRules, "key", func(r *PricingRule) Key { return r.Key })
	for i := range v.m.PricingRules {
		r, here := &v.m.PricingRules[i], at.item(i)
		v.id(here.field("id"), r.ID, r.ObjectID(v.business))
		v.change(here, r)
		v.appliesTo(here.field("applies_to"), r.AppliesTo)
		kind, known := ruleKinds[r.Kind]
		if !known {
			continue // reported when it was read
		}
		v.ruleFields(here, r, kind)
		v.bounds(here, r)
		once(v, here.field("days"), r.Days, "", same[Weekday])
		v.ordered(here, "min", r.Min, "max", r.Max)
		v.ordered(here, "min_units", r.MinUnits, "max_units", r.MaxUnits)
	}
}

// change checks that a rule states exactly one change of the price.
func (v *validator) change(at *path, r *PricingRule) {
	var written []string
	for _, c := range []condition{{"percent", r.Percent != nil}, {"amount", r.Amount != nil}, {"set", r.Set != nil}} {
		if c.written || v.report.hasFailed(at.field(c.name)) {
			written = append(written, c.name)
		}
	}
	switch len(written) {
	case 0:
		v.problem(at, "changes no price; write one of percent, amount and set")
	case 1:
	default:
		v.problem(at.field(written[1]), "stands beside %s; write exactly one of percent, amount and set", written[0])
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
func (v *validator) ruleFields(at *path, r *PricingRule, kind ruleKind) {
	some := len(kind.any) == 0
	for _, c := range r.conditions() {
		needed, possible := slices.Contains(kind.all, c.name), slices.Contains(kind.any, c.name)
		some = some || possible && (c.written || v.report.hasFailed(at.field(c.name)))
		switch {
		case c.written && !needed && !possible:
			v.problem(at.field(c.name), "goes not with kind %s; remove it%s", r.Kind, kind.hint())
		case !c.written && needed:
			v.problem(at.field(c.name), "is missing; kind %s needs it", r.Kind)
		}
	}
	if !some {
		v.problem(at, "has no %s; kind %s needs one of them", strings.Join(kind.any, " or "), r.Kind)
	}
}

func (k ruleKind) hint() string {
	fields := slices.Concat(k.all, k.any)
	if len(fields) == 0 {
		return ""
	}
	return " and write " + strings.Join(fields, " and ")
}

// bounds checks that from and to have the form of the rule's kind and the right order.
func (v *validator) bounds(at *path, r *PricingRule) {
	forms, want := boundForms(r.Kind)
	if forms == nil {
		return
	}
	fits := true
	for _, b := range []struct {
		name  string
		bound *Bound
	}{{"from", r.From}, {"to", r.To}} {
		if b.bound == nil {
			fits = false
		} else if !slices.Contains(forms, b.bound.Form) {
			fits = false
			v.problem(at.field(b.name), "is %s; kind %s needs %s", quote(b.bound.String()), r.Kind, want)
		}
	}
	if fits {
		v.boundOrder(at, r)
	}
}

func boundForms(kind string) ([]BoundForm, string) {
	switch kind {
	case "seasonal":
		return []BoundForm{MonthDayForm, DateForm}, `a day of the year, "MM-DD", or a date, YYYY-MM-DD`
	case "time_of_day":
		return []BoundForm{TimeForm}, `a time, "HH:MM"`
	case "flash_sale":
		return []BoundForm{DateTimeForm}, "a local date and time, YYYY-MM-DDTHH:MM"
	default:
		return nil, ""
	}
}

func (v *validator) boundOrder(at *path, r *PricingRule) {
	from, to := *r.From, *r.To
	here := at.field("to")
	switch {
	case from.Form != to.Form:
		v.problem(here, "is %s, but from is %s; write both as MM-DD, or both as YYYY-MM-DD", quote(to.String()), quote(from.String()))
	case from.Form == DateForm && from.Date > to.Date:
		v.problem(here, "is %s, before from (%s); end on that date or later", to, from)
	case from.Form == DateTimeForm && !from.DateTime().Before(to.DateTime()):
		v.problem(here, "is %s, which is not after from (%s); end the sale after it begins", to, from)
	case from.Form == TimeForm && from.Time == to.Time:
		v.problem(here, "is %s, the same as from; write another time, or 00:00 to 24:00 for the whole day", to)
	case from.Form == TimeForm:
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
