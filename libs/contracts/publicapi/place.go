package publicapi

import (
	"encoding/json"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/postal"
)

// Location is where bookings take place. Fields without a value are omitted.
type Location struct {
	ID               uuid.UUID         `json:"id"`
	Kind             string            `json:"kind" jsonschema:"place: customers come there; link: an online meeting; phone: a telephone call; customer_address: the business comes to the customer"`
	Name             string            `json:"name"`
	NameTranslations map[string]string `json:"name_translations,omitempty"`
	Address          postal.Address    `json:"address,omitzero"`
	Geo              *Geo              `json:"geo,omitempty"`
	Phone            string            `json:"phone,omitempty"`
}

// Geo is a position in degrees (WGS 84).
type Geo struct {
	Lat json.Number `json:"lat" jsonschema:"degrees north"`
	Lon json.Number `json:"lon" jsonschema:"degrees east"`
}

// Contact holds the contact data of the business, by which customers can reach it. Fields without a value are omitted.
type Contact struct {
	Phone     string `json:"phone,omitempty"`
	Email     string `json:"email,omitempty"`
	Website   string `json:"website,omitempty"`
	Messenger string `json:"messenger,omitempty" jsonschema:"address that opens a chat with the business"`
}

// Legal holds the legal texts of the business in the default language, with their translations by language code.
// Each text is either the https URL of a page or the legal text itself. Fields without a value are omitted.
type Legal struct {
	Imprint             string            `json:"imprint,omitempty" jsonschema:"https address of a page, or the text"`
	ImprintTranslations map[string]string `json:"imprint_translations,omitempty"`
	Privacy             string            `json:"privacy,omitempty" jsonschema:"https address of a page, or the text"`
	PrivacyTranslations map[string]string `json:"privacy_translations,omitempty"`
	Terms               string            `json:"terms,omitempty" jsonschema:"https address of a page, or the text"`
	TermsTranslations   map[string]string `json:"terms_translations,omitempty"`
}
