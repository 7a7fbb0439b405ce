package catalog

// ManagedBusiness is the business in the customer view of a link (lifecycle.md §5).
type ManagedBusiness struct {
	Slug            string   `json:"slug"`
	Name            string   `json:"name"`
	Timezone        string   `json:"timezone"` // IANA name
	DefaultLanguage string   `json:"default_language"`
	Languages       []string `json:"languages"`
}

// Managed returns the business for the customer view of a link.
func (o *Offer) Managed() ManagedBusiness {
	return ManagedBusiness{Slug: o.Slug, Name: o.Name, Timezone: o.Timezone, DefaultLanguage: o.DefaultLanguage,
		Languages: o.Languages}
}
