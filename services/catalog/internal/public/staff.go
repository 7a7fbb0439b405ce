package public

import (
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
)

// staff holds the public data of a staff member and the texts in all languages.
type staff struct {
	base        publicapi.StaffMember // public data without texts
	name        text
	category    text
	description description
}

// newStaff returns the active staff members in display order.
func newStaff(m *manifest.Manifest, snapshot *catalog.Snapshot, base string) []staff {
	written := pointersByKey(m.Staff, func(s *manifest.Staff) manifest.Key { return s.Key })
	members := make([]staff, 0, len(snapshot.Staff))
	for i := range snapshot.Staff {
		if o := &snapshot.Staff[i]; o.Active {
			members = append(members, newMember(written[o.Key], o, base))
		}
	}
	return members
}

func newMember(m *manifest.Staff, o *catalog.Staff, base string) staff {
	type translation = manifest.StaffTranslation
	name := newText(string(m.Name), m.Translations, func(t translation) string { return string(t.Name) })
	category := newText(string(m.Category), m.Translations, func(t translation) string { return string(t.Category) })
	words := newDescription(m.DescriptionHTML, m.Translations, func(t translation) string { return t.DescriptionHTML })
	return staff{
		base:        publicapi.StaffMember{ID: o.ID, ImageURL: imageURL(o.Photo, m.ImageURL, base)},
		name:        name,
		category:    category,
		description: words,
	}
}

func nonNil(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// HasService reports whether /services lists the service.
func (b *Business) HasService(id uuid.UUID) bool {
	for i := range b.services {
		if b.services[i].base.ID == id {
			return true
		}
	}
	return false
}

// Staff returns the answer of /staff in the language l, with the active staff members in display
// order. If `serviceID` is not nil, it returns only the staff members assigned to that service.
func (b *Business) Staff(l Language, serviceID *uuid.UUID) publicapi.StaffList {
	list := publicapi.StaffList{Staff: make([]publicapi.StaffMember, 0, len(b.staff))}
	var assigned map[uuid.UUID]bool
	if serviceID != nil {
		assigned = b.membersOf(*serviceID)
	}
	for i := range b.staff {
		if serviceID == nil || assigned[b.staff[i].base.ID] {
			list.Staff = append(list.Staff, b.staff[i].show(l))
		}
	}
	return list
}

// membersOf returns the ids of the staff members who provide the service or teach one of its class sessions.
func (b *Business) membersOf(serviceID uuid.UUID) map[uuid.UUID]bool {
	members := map[uuid.UUID]bool{}
	service := b.snapshot.Service(serviceID)
	if service == nil {
		return members
	}
	for _, member := range service.StaffIDs {
		members[member] = true
	}
	for _, session := range service.Classes {
		if session.StaffID != nil {
			members[*session.StaffID] = true
		}
	}
	return members
}

func (s *staff) show(l Language) publicapi.StaffMember {
	shown := s.base
	shown.Name = s.name.show(l)
	shown.Category = s.category.show(l)
	shown.Description = s.description.plain.show(l)
	shown.DescriptionHTML = s.description.html.show(l)
	if !l.IsResolved {
		shown.StaffTranslations = &publicapi.StaffTranslations{
			Name: nonNil(s.name.listTranslations()), Category: nonNil(s.category.listTranslations()),
			Bio:             nonNil(s.description.plain.listTranslations()),
			DescriptionHTML: nonNil(s.description.html.listTranslations()),
		}
	}
	return shown
}
