package catalog

// ManagedBusiness is the business of what a customer's link leads to, as the customer sees it (lifecycle.md §5).
type ManagedBusiness struct {
	Slug            string   `json:"slug"`
	Name            string   `json:"name"`
	Timezone        string   `json:"timezone"` // IANA name
	DefaultLanguage string   `json:"default_language"`
	Languages       []string `json:"languages"`
}

// Managed returns the business of an offer as customers see it by their link.
func (o *Offer) Managed() ManagedBusiness {
	return ManagedBusiness{Slug: o.Slug, Name: o.Name, Timezone: o.Timezone, DefaultLanguage: o.DefaultLanguage, Languages: o.Languages}
}
