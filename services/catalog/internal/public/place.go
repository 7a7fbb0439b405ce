package public

import (
	"encoding/json"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/contracts/publicapi"
)

// addPlace adds the fields for the place of the business and its contact. Without such
// fields in the manifest, it adds nothing, so that the answer of /info has the fields of interface.md only.
func addPlace(info *publicapi.BusinessInfo, m *manifest.Manifest, snapshot *catalog.Snapshot) {
	for i := range snapshot.Locations {
		l := &snapshot.Locations[i]
		shown := publicapi.Location{
			ID: l.ID, Kind: l.Kind, Name: l.Name.Text, NameTranslations: l.Name.Translations,
			Address: l.Address, Phone: l.Phone,
		}
		if geo := m.Locations[i].Geo; geo != nil {
			shown.Geo = &publicapi.Geo{Lat: json.Number(geo.Lat.JSON()), Lon: json.Number(geo.Lon.JSON())}
		}
		info.Locations = append(info.Locations, shown)
	}
	if snapshot.Contact != (catalog.Contact{}) {
		info.Contact = new(publicapi.Contact(snapshot.Contact))
	}
	info.Legal = legalOf(&snapshot.Legal)
	info.PolicyText, info.PolicyTextTranslations = snapshot.PolicyText.Text, snapshot.PolicyText.Translations
}

// legalOf returns the legal texts, or nil if there are none.
func legalOf(l *catalog.Legal) *publicapi.Legal {
	isEmpty := func(text catalog.Label) bool { return text.Text == "" && len(text.Translations) == 0 }
	if isEmpty(l.Imprint) && isEmpty(l.Privacy) && isEmpty(l.Terms) {
		return nil
	}
	return &publicapi.Legal{
		Imprint: l.Imprint.Text, ImprintTranslations: l.Imprint.Translations,
		Privacy: l.Privacy.Text, PrivacyTranslations: l.Privacy.Translations,
		Terms: l.Terms.Text, TermsTranslations: l.Terms.Translations,
	}
}
