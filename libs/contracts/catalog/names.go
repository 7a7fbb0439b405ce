package catalog

import (
	"slices"

	"github.com/google/uuid"
)

// The methods below return the name of a sold service, event or rental in a language of the business. The argument
// `nameAtSale` is the name at the time of the sale. A method returns `nameAtSale` if the name has no translation or has
// changed since the sale. It also returns `nameAtSale` if the business no longer offers the service, event or rental.

// ServiceName returns the name of a service.
func (o *Snapshot) ServiceName(id uuid.UUID, nameAtSale, language string) string {
	if s := o.Service(id); s != nil {
		return translatedName(s.Name, s.NameTranslations, nameAtSale, language)
	}
	return nameAtSale
}

// VariantName returns the name of a variant of a service.
func (o *Snapshot) VariantName(service, variant uuid.UUID, nameAtSale, language string) string {
	s := o.Service(service)
	if s == nil {
		return nameAtSale
	}
	i := slices.IndexFunc(s.Variants, func(v Variant) bool { return v.ID == variant })
	if i < 0 {
		return nameAtSale
	}
	return translatedName(s.Variants[i].Name, s.Variants[i].NameTranslations, nameAtSale, language)
}

// PackageName returns the name of the package that consists of the given services.
func (o *Snapshot) PackageName(services []uuid.UUID, nameAtSale, language string) string {
	if p := o.PackageOf(services, false); p != nil {
		return translatedName(p.Name.Text, p.Name.Translations, nameAtSale, language)
	}
	return nameAtSale
}

// MemberName returns the name of a staff member. It returns `nameAtSale`
// if `id` is nil or if this snapshot has no staff member with the id.
func (o *Snapshot) MemberName(id *uuid.UUID, nameAtSale, language string) string {
	if id == nil {
		return nameAtSale
	}
	if s := o.StaffMember(*id); s != nil {
		return translatedName(s.Name, s.NameTranslations, nameAtSale, language)
	}
	return nameAtSale
}

// EventName returns the name of an event.
func (o *Snapshot) EventName(id uuid.UUID, nameAtSale, language string) string {
	if e := o.Event(id); e != nil {
		return translatedName(e.Name, e.NameTranslations, nameAtSale, language)
	}
	return nameAtSale
}

// TierName returns the name of a tier of an event.
func (o *Snapshot) TierName(event, tier uuid.UUID, nameAtSale, language string) string {
	e := o.Event(event)
	if e == nil {
		return nameAtSale
	}
	i := slices.IndexFunc(e.Tiers, func(t Tier) bool { return t.ID == tier })
	if i < 0 {
		return nameAtSale
	}
	return translatedName(e.Tiers[i].Name, e.Tiers[i].NameTranslations, nameAtSale, language)
}

// RentalName returns the name of a rental.
func (o *Snapshot) RentalName(id uuid.UUID, nameAtSale, language string) string {
	if r := o.Rental(id); r != nil {
		return translatedName(r.Name, r.NameTranslations, nameAtSale, language)
	}
	return nameAtSale
}

func translatedName(name string, translations map[string]string, nameAtSale, language string) string {
	if name != nameAtSale {
		return nameAtSale
	}
	return Label{Text: name, Translations: translations}.In(language)
}
