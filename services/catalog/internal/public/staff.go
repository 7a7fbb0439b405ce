package public

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/manifest"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
)

// StaffList is the answer of /staff.
type StaffList struct {
	Staff []Staff `json:"staff"`
}

// Staff is an element of staff[].
type Staff struct {
	ID              uuid.UUID `json:"id"`
	Name            string    `json:"name"`
	Description     string    `json:"description"`
	DescriptionHTML string    `json:"description_html"`
	Category        string    `json:"category"`
	ImageURL        string    `json:"image_url"`

	*StaffTranslations
}

// StaffTranslations are shown without a locale; each is {} where there is none, as the interface gives staff objects
// that are never null.
type StaffTranslations struct {
	Name            map[string]string `json:"name_translations"`
	Category        map[string]string `json:"category_translations"`
	Bio             map[string]string `json:"bio_translations"`
	DescriptionHTML map[string]string `json:"description_html_translations"`
}

// staff is a staff member with what its public form is made from.
type staff struct {
	shown        Staff // without texts
	name         text
	category     text
	description  description
	translations StaffTranslations
	services     idSet // those it is assigned to
}

// newStaff takes the active members in display order.
func newStaff(m *manifest.Manifest, offer *catalog.Offer) []staff {
	written := byKey(m.Staff, func(s *manifest.Staff) manifest.Key { return s.Key })
	assigned := assignments(offer)
	var members []staff
	for i := range offer.Staff {
		if o := &offer.Staff[i]; o.Active {
			member := newMember(written[o.Key], o)
			member.services = assigned[o.ID]
			members = append(members, member)
		}
	}
	return members
}

// assignments are the services of each staff member: those it performs, and the class-based ones whose sessions it gives.
func assignments(offer *catalog.Offer) map[uuid.UUID]idSet {
	assigned := map[uuid.UUID]idSet{}
	assign := func(member, service uuid.UUID) {
		if assigned[member] == nil {
			assigned[member] = idSet{}
		}
		assigned[member][service] = struct{}{}
	}
	for i := range offer.Services {
		s := &offer.Services[i]
		for _, member := range s.StaffIDs {
			assign(member, s.ID)
		}
		for _, session := range s.Classes {
			if session.StaffID != nil {
				assign(*session.StaffID, s.ID)
			}
		}
	}
	return assigned
}

func newMember(m *manifest.Staff, o *catalog.Staff) staff {
	type translation = manifest.StaffTranslation
	name := newText(string(m.Name), m.Translations, func(t translation) string { return string(t.Name) })
	category := newText(string(m.Category), m.Translations, func(t translation) string { return string(t.Category) })
	words := newDescription(m.DescriptionHTML, m.Translations, func(t translation) string { return t.DescriptionHTML })
	return staff{
		shown:       Staff{ID: o.ID, ImageURL: string(m.ImageURL)},
		name:        name,
		category:    category,
		description: words,
		translations: StaffTranslations{
			Name: object(name.in), Category: object(category.in),
			Bio: object(words.plain.in), DescriptionHTML: object(words.html.in),
		},
	}
}

func object(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// HasService reports whether the service is shown on /services.
func (b *Business) HasService(id uuid.UUID) bool {
	for i := range b.services {
		if b.services[i].shown.ID == id {
			return true
		}
	}
	return false
}

// Staff returns the active staff in display order; with a service, those assigned to it.
func (b *Business) Staff(l Language, serviceID *uuid.UUID) StaffList {
	list := StaffList{Staff: make([]Staff, 0, len(b.staff))}
	for i := range b.staff {
		if serviceID == nil || b.staff[i].performs(*serviceID) {
			list.Staff = append(list.Staff, b.staff[i].show(l))
		}
	}
	return list
}

func (s *staff) performs(serviceID uuid.UUID) bool {
	_, ok := s.services[serviceID]
	return ok
}

func (s *staff) show(l Language) Staff {
	shown := s.shown
	shown.Name = s.name.show(l)
	shown.Category = s.category.show(l)
	shown.Description = s.description.plain.show(l)
	shown.DescriptionHTML = s.description.html.show(l)
	if !l.Resolved {
		shown.StaffTranslations = &s.translations
	}
	return shown
}
