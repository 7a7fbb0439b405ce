package compile

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/values/rule"
)

// sortBy sorts `list` in place. Equal elements stay in their order.
func sortBy[T any](list []T, compare func(a, b *T) int) {
	slices.SortStableFunc(list, func(a, b T) int { return compare(&a, &b) })
}

// staffList returns the staff in Auto-Assign order: by order field, name and id (semantics.md §2).
func (c *compiler) staffList() []catalog.Staff {
	list := convertAll(c.m.Staff, c.member)
	sortBy(list, func(a, b *catalog.Staff) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Name, b.Name), bytes.Compare(a.ID[:], b.ID[:]))
	})
	return list
}

func (c *compiler) member(s *manifest.Staff) catalog.Staff {
	member := catalog.Staff{
		ID:   c.staff[s.Key],
		Key:  string(s.Key),
		Name: string(s.Name),
		NameTranslations: translationsOf(s.Translations, func(t manifest.StaffTranslation) string {
			return string(t.Name)
		}),
		Active:    s.IsActive(),
		Order:     s.Order,
		Overrides: compileOverrides(s.Overrides),
		Photo:     c.picture(s.Photo),
	}
	if s.Hours != nil {
		hours := compileWeek(s.Hours)
		member.Hours = &hours
	}
	for i := range c.m.Locations { // in the order of the locations, as the order of a map is random
		if hours, works := s.At[c.m.Locations[i].Key]; works {
			member.At = append(member.At, catalog.StaffLocation{
				LocationID: c.m.Locations[i].ObjectID(c.id), Hours: compileWeek(&hours),
			})
		}
	}
	return member
}

// serviceList returns the services in display order: by their order field, then in the order of the manifest.
func (c *compiler) serviceList() []catalog.Service {
	return convertAll(sortStable(c.m.Services, func(s *manifest.Service) int { return s.Order }), c.service)
}

// sortStable returns a copy of `list`, sorted by the number that the function
// `order` returns. Equal elements stay in the order of the manifest.
func sortStable[T any](list []T, order func(*T) int) []T {
	out := slices.Clone(list)
	sortBy(out, func(a, b *T) int { return cmp.Compare(order(a), order(b)) })
	return out
}

func (c *compiler) service(s *manifest.Service) catalog.Service {
	interval := c.m.BookingSettings().SlotIntervalMinutes
	if s.SlotIntervalMinutes != nil {
		interval = s.SlotIntervalMinutes
	}
	return catalog.Service{
		ID:   c.services[s.Key],
		Key:  string(s.Key),
		Name: string(s.Name),
		NameTranslations: translationsOf(s.Translations, func(t manifest.ServiceTranslation) string {
			return string(t.Name)
		}),
		Category: catalog.Label{Text: string(s.Category),
			Translations: translationsOf(s.Translations, func(t manifest.ServiceTranslation) string {
				return string(t.Category)
			})},
		Active:              s.IsActive(),
		DurationMinutes:     s.DurationMinutes,
		BufferBeforeMinutes: s.BufferBeforeMinutes,
		BufferAfterMinutes:  s.BufferAfterMinutes,
		SlotIntervalMinutes: *interval,
		Price:               c.minor(s.Price),
		PerPerson:           s.IsPricedPerPerson(),
		PaymentRequirement:  s.Requirement(),
		DepositValue:        toDecimal(s.DepositValue),
		Capacity:            s.CapacityUnits(),
		Picture:             c.picture(s.Picture),
		StaffIDs:            c.resolveAll(s.Staff, c.staff),
		LocationIDs:         c.resolveAll(s.Locations, c.locations),
		Variants: convertAll(s.Variants, func(v *manifest.Variant) catalog.Variant {
			return c.variant(v, s)
		}),
		Classes: convertAll(s.Classes, func(k *manifest.ClassSession) catalog.ClassSession {
			return c.class(k, s)
		}),
	}
}

func toDecimal(d *manifest.Decimal) *decimal.Decimal {
	if d == nil {
		return nil
	}
	return &d.Decimal
}

func (c *compiler) variant(v *manifest.Variant, of *manifest.Service) catalog.Variant {
	return catalog.Variant{
		ID:   v.ObjectID(c.id, of.Key),
		Key:  string(v.Key),
		Name: string(v.Name),
		NameTranslations: translationsOf(v.Translations, func(t manifest.VariantTranslation) string {
			return string(t.Name)
		}),
		DurationMinutes: v.Minutes(of),
		Price:           c.minor(v.ListPrice(of)),
	}
}

func (c *compiler) class(k *manifest.ClassSession, of *manifest.Service) catalog.ClassSession {
	session := catalog.ClassSession{
		ID:       k.ObjectID(c.id, of.Key),
		Key:      string(k.Key),
		Weekday:  (*time.Weekday)(k.Weekday),
		Date:     k.Date,
		Time:     k.Time,
		Capacity: k.Capacity,
		From:     k.From,
		To:       k.To,

		LocationID: c.resolveOrNil(k.Location, c.locations),
	}
	if k.Staff != nil {
		session.StaffID = new(c.resolve(*k.Staff, c.staff))
	}
	return session
}

func (c *compiler) bundle(p *manifest.Package) catalog.Package {
	return catalog.Package{
		ID:  p.ObjectID(c.id),
		Key: string(p.Key),
		Name: catalog.Label{Text: string(p.Name),
			Translations: translationsOf(p.Translations, func(t manifest.PackageTranslation) string {
				return string(t.Name)
			})},
		Description: catalog.Label{Text: p.Description,
			Translations: translationsOf(p.Translations, func(t manifest.PackageTranslation) string {
				return t.Description
			})},
		ServiceIDs: c.resolveAll(p.Services, c.services),
		Price:      c.minorOrNil(p.Price),
		Percent:    toDecimal(p.Percent),
	}
}

// eventList returns the events sorted by date, then by start.
func (c *compiler) eventList() []catalog.Event {
	list := convertAll(c.m.Events, c.event)
	sortBy(list, func(a, b *catalog.Event) int {
		return cmp.Or(cmp.Compare(a.Date, b.Date), cmp.Compare(a.Start, b.Start))
	})
	return list
}

func (c *compiler) event(e *manifest.Event) catalog.Event {
	return catalog.Event{
		ID:   c.events[e.Key],
		Key:  string(e.Key),
		Name: string(e.Name),
		NameTranslations: translationsOf(e.Translations, func(t manifest.EventTranslation) string {
			return string(t.Name)
		}),
		Date:               e.Date,
		Start:              e.StartTime,
		End:                e.EndTime,
		Active:             e.IsActive(),
		Public:             e.IsPublic(),
		TotalCapacity:      e.TotalCapacity,
		Picture:            c.picture(e.Picture),
		PaymentRequirement: e.Requirement(),
		DepositValue:       toDecimal(e.DepositValue),
		Tiers:              convertAll(e.Tiers, func(t *manifest.Tier) catalog.Tier { return c.tier(t, e) }),
		LocationID:         c.resolveOrNil(e.Location, c.locations),
	}
}

func (c *compiler) tier(t *manifest.Tier, of *manifest.Event) catalog.Tier {
	return catalog.Tier{
		ID:   t.ObjectID(c.id, of.Key),
		Key:  string(t.Key),
		Name: string(t.Name),
		NameTranslations: translationsOf(t.Translations, func(t manifest.TierTranslation) string {
			return string(t.Name)
		}),
		Price:    c.minor(t.Price),
		Capacity: t.Capacity,
	}
}

// rentalList returns the rentals in display order: by their order field, then in the order of the manifest.
func (c *compiler) rentalList() []catalog.Rental {
	return convertAll(sortStable(c.m.Rentals, func(r *manifest.Rental) int { return r.Order }), c.rental)
}

func (c *compiler) rental(r *manifest.Rental) catalog.Rental {
	return catalog.Rental{
		ID:   c.rentals[r.Key],
		Key:  string(r.Key),
		Name: string(r.Name),
		NameTranslations: translationsOf(r.Translations, func(t manifest.RentalTranslation) string {
			return string(t.Name)
		}),
		Active:             r.IsActive(),
		Price:              c.minor(r.Price),
		PriceType:          r.PriceType,
		Quantity:           r.Quantity,
		Units:              compileUnits(r),
		MinRentalHours:     r.MinRentalHours,
		MaxRentalHours:     r.MaxRentalHours,
		MinRentalDays:      r.MinRentalDays,
		MaxRentalDays:      r.MaxRentalDays,
		OutsideHours:       r.OutsideHours,
		Picture:            c.picture(r.Picture),
		PaymentRequirement: r.Requirement(),
		DepositValue:       toDecimal(r.DepositValue),
		Upsells: convertAll(sortStable(r.Upsells, func(u *manifest.Upsell) int {
			return u.Order
		}), c.upsell),
		LocationID: c.resolveOrNil(r.Location, c.locations),
	}
}

func (c *compiler) upsell(u *manifest.Upsell) catalog.Upsell {
	return catalog.Upsell{RentalID: c.resolve(u.Rental, c.rentals), Required: u.Required}
}

// compileUnits returns the units in the manifest. If the manifest has units_count
// instead, compileUnits returns that many units with the keys 1, 2, ….
func compileUnits(r *manifest.Rental) []catalog.RentalUnit {
	if r.UnitsCount == nil {
		return convertAll(r.Units, unit)
	}
	out := make([]catalog.RentalUnit, *r.UnitsCount)
	for i := range out {
		out[i] = catalog.RentalUnit{Key: strconv.Itoa(i + 1), InService: true}
	}
	return out
}

func unit(u *manifest.RentalUnit) catalog.RentalUnit {
	return catalog.RentalUnit{
		Key:       string(u.Key),
		InService: u.IsInService(),
		Maintenance: convertAll(u.Maintenance, func(m *manifest.Maintenance) catalog.Maintenance {
			return catalog.Maintenance(*m)
		}),
	}
}

// ruleList returns the pricing rules in the order in which they apply: by priority, then by key.
func (c *compiler) ruleList() []catalog.Rule {
	list := convertAll(c.m.PricingRules, c.rule)
	sortBy(list, func(a, b *catalog.Rule) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Key, b.Key))
	})
	return list
}

func (c *compiler) rule(r *manifest.PricingRule) catalog.Rule {
	return catalog.Rule{
		Key:       string(r.Key),
		Kind:      r.Kind,
		Priority:  r.Priority,
		Percent:   toDecimal(r.Percent),
		Amount:    c.minorOrNil(r.Amount),
		Set:       c.minorOrNil(r.Set),
		Stop:      r.Stop,
		AppliesTo: c.appliesTo(r.AppliesTo),
		Label: catalog.Label{Text: string(r.Label),
			Translations: translationsOf(r.Translations, func(t manifest.RuleTranslation) string {
				return string(t.Label)
			})},
		When: r.When,
	}
}

// listPriceInputs returns the inputs that at least one of the rules needs, each once, in the order of [rule.Kinds].
func listPriceInputs(rules []catalog.Rule) []rule.Input {
	var needs []rule.Input
	for _, spec := range rule.Kinds {
		if slices.ContainsFunc(rules, func(r catalog.Rule) bool { return r.Kind == spec.Kind }) {
			needs = append(needs, spec.Needs...)
		}
	}
	return needs
}

func (c *compiler) appliesTo(a *manifest.AppliesTo) catalog.AppliesTo {
	if a == nil {
		return catalog.AppliesTo{}
	}
	var to catalog.AppliesTo
	to.AllServices, to.Services = c.resolveSelection(a.Services, c.services)
	to.AllEvents, to.Events = c.resolveSelection(a.Events, c.events)
	to.AllRentals, to.Rentals = c.resolveSelection(a.Rentals, c.rentals)
	return to
}

func (c *compiler) resolveSelection(s *manifest.Selection, ids map[manifest.Key]uuid.UUID) (bool, []uuid.UUID) {
	if s == nil {
		return false, nil
	}
	return s.All, c.resolveAll(s.Keys, ids)
}
