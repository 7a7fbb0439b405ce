package catalog

// LinkBusiness holds the data of a business that the page behind a customer's link shows (lifecycle.md §5).
type LinkBusiness struct {
	Slug            string   `json:"slug"`
	Name            string   `json:"name"`
	Timezone        string   `json:"timezone"` // IANA name
	DefaultLanguage string   `json:"default_language"`
	Languages       []string `json:"languages"`
}

// LinkBusiness returns the data of the business that the page behind a customer's link shows.
func (o *Snapshot) LinkBusiness() LinkBusiness {
	return LinkBusiness{Slug: o.Slug, Name: o.Name, Timezone: o.Timezone, DefaultLanguage: o.DefaultLanguage,
		Languages: o.Languages}
}
