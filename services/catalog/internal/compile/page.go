package compile

import (
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
)

// picture returns the uploaded picture with the given id, or nil if there is no such picture.
func (c *compiler) picture(id manifest.PictureID) *catalog.Picture {
	if picture, ok := c.pictures[string(id)]; ok {
		return &picture
	}
	return nil
}

func (c *compiler) page(p manifest.Page) catalog.Page {
	var gallery []catalog.Picture
	for _, id := range p.Gallery {
		if picture := c.picture(id); picture != nil {
			gallery = append(gallery, *picture)
		}
	}
	return catalog.Page{
		Cover:        c.picture(p.Cover),
		Gallery:      gallery,
		Accent:       string(p.Accent),
		EmbedOrigins: convertAll(p.EmbedOrigins, func(o *manifest.Origin) string { return string(*o) }),
		AboutHTML:    p.AboutHTML,
		AboutTranslations: translationsOf(p.Translations, func(t manifest.PageTranslation) string {
			return t.AboutHTML
		}),
	}
}

func (c *compiler) question(q *manifest.Question) catalog.Question {
	return catalog.Question{
		Key:        string(q.Key),
		Label:      compileLabel(q.Label, q.Translations),
		Type:       q.Type,
		Required:   q.Required,
		MaxLength:  q.MaxAnswerLength(),
		Consent:    q.Consent,
		ServiceIDs: c.resolveAll(q.Services, c.services),
		EventIDs:   c.resolveAll(q.Events, c.events),
		RentalIDs:  c.resolveAll(q.Rentals, c.rentals),
		Options: convertAll(q.Options, func(o *manifest.QuestionOption) catalog.QuestionOption {
			return catalog.QuestionOption{Key: string(o.Key), Label: compileLabel(o.Label, o.Translations)}
		}),
	}
}

func compileLabel(text manifest.Line, translations map[manifest.Language]manifest.QuestionTranslation) catalog.Label {
	return newLabel(string(text), translations, func(t manifest.QuestionTranslation) string { return string(t.Label) })
}

// translationsOf returns the translations of one field by language code,
// without empty translations. It returns nil if there are none.
func translationsOf[T any](translations map[manifest.Language]T, text func(T) string) map[string]string {
	var out map[string]string
	for language, t := range translations {
		if text(t) == "" {
			continue
		}
		if out == nil {
			out = make(map[string]string, len(translations))
		}
		out[string(language)] = text(t)
	}
	return out
}
