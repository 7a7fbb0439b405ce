package view

import (
	"encoding/json"

	"github.com/slotmesh/slotmesh/libs/values/locale"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// about returns the business's description of itself, in the language of the business that is nearest to the reader's
// language. It sanitizes the HTML of the description again, although catalog has already sanitized the HTML.
func (p *Page) about() string {
	page := p.Business.Offer.Page
	text := page.AboutHTML
	if translated := page.AboutTranslations[p.spoken()]; translated != "" {
		text = translated
	}
	return locale.Sanitize(text)
}

// These types are the structured data of a business for search engines, in the vocabulary of schema.org.
type (
	localBusiness struct {
		Context string    `json:"@context"`
		Type    string    `json:"@type"`
		Name    string    `json:"name"`
		URL     string    `json:"url"`
		Image   string    `json:"image,omitempty"`
		Offers  []anOffer `json:"makesOffer,omitempty"`
	}
	anOffer struct {
		Type     string      `json:"@type"`
		Price    json.Number `json:"price"`
		Currency string      `json:"priceCurrency"`
		Item     aService    `json:"itemOffered"`
	}
	aService struct {
		Type        string `json:"@type"`
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
	}
)

// describedBusiness returns the structured data of the business and its services.
func (p *Page) describedBusiness(groups []usecase.Group) any {
	b := localBusiness{
		Context: "https://schema.org", Type: "LocalBusiness", Name: p.called(), URL: p.Base + p.path(""),
		Image: p.Business.LogoURL,
	}
	for _, g := range groups {
		for _, s := range g.Services {
			b.Offers = append(b.Offers, anOffer{
				Type: "Offer", Price: shown(s.Price, s.QuotedPrice), Currency: p.Business.Offer.Currency,
				Item: aService{"Service", s.Name, s.Description},
			})
		}
	}
	return b
}
