package catalog

import (
	"slices"

	"github.com/google/uuid"
)

// The methods below return the name of a sold service, event or rental in a language of the business. The argument
// `sold` is the name at the time of the sale. A method returns `sold` if the name has no translation or has
// changed since the sale. It also returns `sold` if the business no longer offers the service, event or rental.

// ServiceName returns the name of a service.
func (o *Snapshot) ServiceName(id uuid.UUID, sold, language string) string {
	if s := o.Service(id); s != nil {
		return nameOf(s.Name, s.NameTranslations, sold, language)
	}
	return sold
}

// VariantName returns the name of a variant of a service.
func (o *Snapshot) VariantName(service, variant uuid.UUID, sold, language string) string {
	s := o.Service(service)
	if s == nil {
		return sold
	}
	i := slices.IndexFunc(s.Variants, func(v Variant) bool { return v.ID == variant })
	if i < 0 {
		return sold
	}
	return nameOf(s.Variants[i].Name, s.Variants[i].NameTranslations, sold, language)
}

// PackageName returns the name of the package that consists of the given services.
func (o *Snapshot) PackageName(services []uuid.UUID, sold, language string) string {
	if p := o.PackageOf(services, false); p != nil {
		return nameOf(p.Name.Text, p.Name.Translations, sold, language)
	}
	return sold
}

// MemberName returns the name of a staff member. It returns `sold`
// if `id` is nil or if this snapshot has no staff member with the id.
func (o *Snapshot) MemberName(id *uuid.UUID, sold, language string) string {
	if id == nil {
		return sold
	}
	if s := o.StaffMember(*id); s != nil {
		return nameOf(s.Name, s.NameTranslations, sold, language)
	}
	return sold
}

// EventName returns the name of an event.
func (o *Snapshot) EventName(id uuid.UUID, sold, language string) string {
	if e := o.Event(id); e != nil {
		return nameOf(e.Name, e.NameTranslations, sold, language)
	}
	return sold
}

// TierName returns the name of a tier of an event.
func (o *Snapshot) TierName(event, tier uuid.UUID, sold, language string) string {
	e := o.Event(event)
	if e == nil {
		return sold
	}
	i := slices.IndexFunc(e.Tiers, func(t Tier) bool { return t.ID == tier })
	if i < 0 {
		return sold
	}
	return nameOf(e.Tiers[i].Name, e.Tiers[i].NameTranslations, sold, language)
}

// RentalName returns the name of a rental.
func (o *Snapshot) RentalName(id uuid.UUID, sold, language string) string {
	if r := o.Rental(id); r != nil {
		return nameOf(r.Name, r.NameTranslations, sold, language)
	}
	return sold
}

func nameOf(name string, translations map[string]string, sold, language string) string {
	if name != sold {
		return sold
	}
	return Label{Text: name, Translations: translations}.In(language)
}
