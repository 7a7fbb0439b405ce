package manifest

// PictureUse is a place of a manifest that shows an uploaded picture.
type PictureUse struct {
	Path string // path of the field, such as services[3].picture
	ID   PictureID
}

// PictureUses returns all places that show an uploaded picture, in the order of the fields of [Manifest].
func (m *Manifest) PictureUses() []PictureUse {
	var uses []PictureUse
	add := func(at *path, id PictureID) {
		if id != "" {
			uses = append(uses, PictureUse{at.String(), id})
		}
	}
	var root *path
	add(root.field("logo"), m.Logo)
	if m.Page != nil {
		page := root.field("page")
		add(page.field("cover"), m.Page.Cover)
		for i, id := range m.Page.Gallery {
			add(page.field("gallery").item(i), id)
		}
	}
	for i := range m.Staff {
		add(root.field("staff").item(i).field("photo"), m.Staff[i].Photo)
	}
	for i := range m.Services {
		add(root.field("services").item(i).field("picture"), m.Services[i].Picture)
	}
	for i := range m.Events {
		add(root.field("events").item(i).field("picture"), m.Events[i].Picture)
	}
	for i := range m.Rentals {
		add(root.field("rentals").item(i).field("picture"), m.Rentals[i].Picture)
	}
	return uses
}
