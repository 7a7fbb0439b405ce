package manifest

import (
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

var hundred = decimal.NewFromInt(100)

func (v *validator) staffList(at *path) {
	once(v, at, v.m.Staff, "key", func(s *Staff) Key { return s.Key })
	for i := range v.m.Staff {
		s, here := &v.m.Staff[i], at.item(i)
		v.id(here.field("id"), s.ID, s.ObjectID(v.business))
		v.overrides(here.field("overrides"), s.Overrides)
		translated(v, here, s.Translations)
	}
}

func (v *validator) serviceList(at *path) {
	once(v, at, v.m.Services, "key", func(s *Service) Key { return s.Key })
	bound := newSlotBound(v.m)
	for i := range v.m.Services {
		s, here := &v.m.Services[i], at.item(i)
		v.id(here.field("id"), s.ID, s.ObjectID(v.business))
		v.amount(here.field("price"), s.Price)
		v.deposit(here, s.Requirement(), s.DepositValue)
		v.referAll(here.field("staff"), s.Staff, &v.staff)
		v.variants(here.field("variants"), s)
		v.classes(here.field("classes"), s)
		v.slots(here, s, bound)
		translated(v, here, s.Translations)
	}
}

func (v *validator) variants(at *path, s *Service) {
	once(v, at, s.Variants, "key", func(o *Variant) Key { return o.Key })
	for i := range s.Variants {
		o, here := &s.Variants[i], at.item(i)
		v.id(here.field("id"), o.ID, o.ObjectID(v.business, s.Key))
		if o.Price != nil {
			v.amount(here.field("price"), *o.Price)
		}
		translated(v, here, o.Translations)
	}
}

func (v *validator) classes(at *path, s *Service) {
	once(v, at, s.Classes, "key", func(c *ClassSession) Key { return c.Key })
	for i := range s.Classes {
		c, here := &s.Classes[i], at.item(i)
		v.id(here.field("id"), c.ID, c.ObjectID(v.business, s.Key))
		v.classDates(here, c)
		v.startsOnItsDay(here.field("time"), c.Time)
		if c.Staff != nil {
			v.refer(here.field("staff"), *c.Staff, &v.staff)
		}
	}
}

func (v *validator) classDates(at *path, c *ClassSession) {
	unread := v.report.hasFailed(at.field("weekday")) || v.report.hasFailed(at.field("date"))
	switch {
	case unread:
	case c.Weekday == nil && c.Date == nil:
		v.problem(at, "has neither weekday nor date; write weekday for a weekly session or date for a single one").
			as(CodeSessionDay)
	case c.Weekday != nil && c.Date != nil:
		v.problem(at.field("date"),
			"stands beside weekday; write weekday for a weekly session or date for a single one").
			as(CodeExcludes, "With", "weekday")
	}
	if c.Date != nil && c.From != nil {
		v.problem(at.field("from"), "goes only with weekday; remove it").as(CodeExcludes, "With", "date")
	}
	if c.Date != nil && c.To != nil {
		v.problem(at.field("to"), "goes only with weekday; remove it").as(CodeExcludes, "With", "date")
	}
	if c.From != nil && c.To != nil && *c.From > *c.To {
		v.problem(at.field("to"), "is %s, before from (%s); end on that date or later", c.To, c.From).as(CodeOrder)
	}
}

// startsOnItsDay rejects 24:00 as a start, because it is the first minute of the next day.
func (v *validator) startsOnItsDay(at *path, t timespan.TimeOfDay) {
	if t >= timespan.MinutesPerDay {
		v.problem(at, "is %s; write 00:00 of the next day", t).as(CodeFormat, "Value", t, "Example", "00:00")
	}
}

func (v *validator) eventList(at *path) {
	once(v, at, v.m.Events, "key", func(e *Event) Key { return e.Key })
	for i := range v.m.Events {
		e, here := &v.m.Events[i], at.item(i)
		v.id(here.field("id"), e.ID, e.ObjectID(v.business))
		v.startsOnItsDay(here.field("start_time"), e.StartTime)
		if e.StartTime == e.EndTime && !v.report.hasFailed(here.field("start_time")) {
			v.problem(here.field("end_time"),
				"is %s, when the event starts; write another time (one before the start lies on the next day)",
				e.EndTime).
				as(CodeOrder)
		}
		v.deposit(here, e.Requirement(), e.DepositValue)
		v.tiers(here.field("tiers"), e)
		translated(v, here, e.Translations)
	}
}

func (v *validator) tiers(at *path, e *Event) {
	once(v, at, e.Tiers, "key", func(t *Tier) Key { return t.Key })
	for i := range e.Tiers {
		t, here := &e.Tiers[i], at.item(i)
		v.id(here.field("id"), t.ID, t.ObjectID(v.business, e.Key))
		v.amount(here.field("price"), t.Price)
		translated(v, here, t.Translations)
	}
}

func (v *validator) rentalList(at *path) {
	once(v, at, v.m.Rentals, "key", func(r *Rental) Key { return r.Key })
	for i := range v.m.Rentals {
		r, here := &v.m.Rentals[i], at.item(i)
		v.id(here.field("id"), r.ID, r.ObjectID(v.business))
		v.amount(here.field("price"), r.Price)
		v.deposit(here, r.Requirement(), r.DepositValue)
		v.ordered(here, "min_rental_hours", r.MinRentalHours, "max_rental_hours", r.MaxRentalHours)
		v.ordered(here, "min_rental_days", r.MinRentalDays, "max_rental_days", r.MaxRentalDays)
		v.units(here, r)
		v.upsells(here.field("upsells"), r)
		translated(v, here, r.Translations)
	}
}

func (v *validator) units(at *path, r *Rental) {
	if r.UnitsCount != nil && r.Units != nil {
		v.problem(at.field("units_count"), "stands beside units; write one of the two").
			as(CodeExcludes, "With", "units")
	}
	at = at.field("units")
	once(v, at, r.Units, "key", func(u *RentalUnit) Key { return u.Key })
	for i := range r.Units {
		u, here := &r.Units[i], at.item(i)
		v.id(here.field("id"), u.ID, u.ObjectID(v.business, r.Key))
		for j, m := range u.Maintenance {
			if m.From > m.To {
				v.problem(here.field("maintenance").item(j).field("to"),
					"is %s, before from (%s); end on that date or later", m.To, m.From).
					as(CodeOrder)
			}
		}
	}
}

func (v *validator) upsells(at *path, r *Rental) {
	once(v, at, r.Upsells, "rental", func(u *Upsell) Key { return u.Rental })
	for i, u := range r.Upsells {
		here := at.item(i).field("rental")
		if u.Rental == r.Key {
			v.problem(here, "names the rental itself; write the key of another rental").as(CodeItself)
			continue
		}
		v.refer(here, u.Rental, &v.rentals)
	}
}
