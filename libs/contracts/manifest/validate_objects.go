package manifest

import (
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

var hundred = decimal.NewFromInt(100)

func (v *validator) checkStaff(at *path) {
	checkUnique(v, at, v.m.Staff, "key", func(s *Staff) Key { return s.Key })
	for i := range v.m.Staff {
		s, here := &v.m.Staff[i], at.item(i)
		v.recordID(here.field("id"), s.ID, s.ObjectID(v.business))
		v.checkOverrides(here.field("overrides"), s.Overrides)
		v.checkStaffLocations(here, s)
		checkTranslations(v, here, s.Translations)
	}
}

func (v *validator) checkServices(at *path) {
	checkUnique(v, at, v.m.Services, "key", func(s *Service) Key { return s.Key })
	bound := newSlotBound(v.m)
	for i := range v.m.Services {
		s, here := &v.m.Services[i], at.item(i)
		v.recordID(here.field("id"), s.ID, s.ObjectID(v.business))
		v.checkAmount(here.field("price"), s.Price)
		v.checkDeposit(here, s.Requirement(), s.DepositValue)
		v.checkKeys(here.field("staff"), s.Staff, &v.staff)
		v.checkKeys(here.field("locations"), s.Locations, &v.locations)
		v.checkVariants(here.field("variants"), s)
		v.checkClasses(here.field("classes"), s)
		v.checkSlots(here, s, bound)
		checkTranslations(v, here, s.Translations)
	}
}

func (v *validator) checkVariants(at *path, s *Service) {
	checkUnique(v, at, s.Variants, "key", func(o *Variant) Key { return o.Key })
	for i := range s.Variants {
		o, here := &s.Variants[i], at.item(i)
		v.recordID(here.field("id"), o.ID, o.ObjectID(v.business, s.Key))
		if o.Price != nil {
			v.checkAmount(here.field("price"), *o.Price)
		}
		checkTranslations(v, here, o.Translations)
	}
}

func (v *validator) checkClasses(at *path, s *Service) {
	checkUnique(v, at, s.Classes, "key", func(c *ClassSession) Key { return c.Key })
	for i := range s.Classes {
		c, here := &s.Classes[i], at.item(i)
		v.recordID(here.field("id"), c.ID, c.ObjectID(v.business, s.Key))
		v.checkClassDates(here, c)
		v.checkStartTime(here.field("time"), c.Time)
		if c.Staff != nil {
			v.checkKey(here.field("staff"), *c.Staff, &v.staff)
		}
		v.checkSessionLocation(here.field("location"), c, s)
	}
}

func (v *validator) checkClassDates(at *path, c *ClassSession) {
	unread := v.report.hasFailed(at.field("weekday")) || v.report.hasFailed(at.field("date"))
	switch {
	case unread:
	case c.Weekday == nil && c.Date == nil:
		v.addProblem(at, "has neither weekday nor date; write weekday for a weekly session or date for a single one").
			setCode(CodeSessionDay)
	case c.Weekday != nil && c.Date != nil:
		v.addProblem(at.field("date"),
			"stands beside weekday; write weekday for a weekly session or date for a single one").
			setCode(CodeExcludes, "With", "weekday")
	}
	if c.Date != nil && c.From != nil {
		v.addProblem(at.field("from"), "goes only with weekday; remove it").setCode(CodeExcludes, "With", "date")
	}
	if c.Date != nil && c.To != nil {
		v.addProblem(at.field("to"), "goes only with weekday; remove it").setCode(CodeExcludes, "With", "date")
	}
	if c.From != nil && c.To != nil && *c.From > *c.To {
		v.addProblem(at.field("to"), "is %s, before from (%s); end on that date or later", c.To,
			c.From).setCode(CodeOrder)
	}
}

// checkStartTime reports the start 24:00, because this time belongs to the next day.
func (v *validator) checkStartTime(at *path, t timespan.TimeOfDay) {
	if t >= timespan.MinutesPerDay {
		v.addProblem(at, "is %s; write 00:00 of the next day", t).setCode(CodeFormat, "Value", t, "Example", "00:00")
	}
}

func (v *validator) checkEvents(at *path) {
	checkUnique(v, at, v.m.Events, "key", func(e *Event) Key { return e.Key })
	for i := range v.m.Events {
		e, here := &v.m.Events[i], at.item(i)
		v.recordID(here.field("id"), e.ID, e.ObjectID(v.business))
		v.checkStartTime(here.field("start_time"), e.StartTime)
		if e.StartTime == e.EndTime && !v.report.hasFailed(here.field("start_time")) {
			v.addProblem(here.field("end_time"),
				"is %s, when the event starts; write another time (one before the start lies on the next day)",
				e.EndTime).
				setCode(CodeOrder)
		}
		v.checkDeposit(here, e.Requirement(), e.DepositValue)
		v.checkLocationKey(here.field("location"), e.Location)
		v.checkTiers(here.field("tiers"), e)
		checkTranslations(v, here, e.Translations)
	}
}

func (v *validator) checkTiers(at *path, e *Event) {
	checkUnique(v, at, e.Tiers, "key", func(t *Tier) Key { return t.Key })
	for i := range e.Tiers {
		t, here := &e.Tiers[i], at.item(i)
		v.recordID(here.field("id"), t.ID, t.ObjectID(v.business, e.Key))
		v.checkAmount(here.field("price"), t.Price)
		checkTranslations(v, here, t.Translations)
	}
}

func (v *validator) checkRentals(at *path) {
	checkUnique(v, at, v.m.Rentals, "key", func(r *Rental) Key { return r.Key })
	for i := range v.m.Rentals {
		r, here := &v.m.Rentals[i], at.item(i)
		v.recordID(here.field("id"), r.ID, r.ObjectID(v.business))
		v.checkAmount(here.field("price"), r.Price)
		v.checkDeposit(here, r.Requirement(), r.DepositValue)
		v.checkOrder(here, "min_rental_hours", r.MinRentalHours, "max_rental_hours", r.MaxRentalHours)
		v.checkOrder(here, "min_rental_days", r.MinRentalDays, "max_rental_days", r.MaxRentalDays)
		v.checkUnits(here, r)
		v.checkLocationKey(here.field("location"), r.Location)
		v.checkUpsells(here.field("upsells"), r)
		checkTranslations(v, here, r.Translations)
	}
}

func (v *validator) checkUnits(at *path, r *Rental) {
	if r.UnitsCount != nil && r.Units != nil {
		v.addProblem(at.field("units_count"), "stands beside units; write one of the two").
			setCode(CodeExcludes, "With", "units")
	}
	at = at.field("units")
	checkUnique(v, at, r.Units, "key", func(u *RentalUnit) Key { return u.Key })
	for i := range r.Units {
		u, here := &r.Units[i], at.item(i)
		v.recordID(here.field("id"), u.ID, u.ObjectID(v.business, r.Key))
		for j, m := range u.Maintenance {
			if m.From > m.To {
				v.addProblem(here.field("maintenance").item(j).field("to"),
					"is %s, before from (%s); end on that date or later", m.To, m.From).
					setCode(CodeOrder)
			}
		}
	}
}

func (v *validator) checkUpsells(at *path, r *Rental) {
	checkUnique(v, at, r.Upsells, "rental", func(u *Upsell) Key { return u.Rental })
	for i, u := range r.Upsells {
		here := at.item(i).field("rental")
		if u.Rental == r.Key {
			v.addProblem(here, "names the rental itself; write the key of another rental").setCode(CodeItself)
			continue
		}
		v.checkKey(here, u.Rental, &v.rentals)
	}
}
