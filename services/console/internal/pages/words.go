package pages

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/signin"
	"github.com/slotmesh/slotmesh/services/console/internal/offer"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/form"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

// wordsSection is the section of the page with the owner's words for messages.
const wordsSection = "words"

// mountWords adds the routes of the page with the owner's words for messages, of its preview and of test messages.
func (p *Pages) mountWords(business *authorize.Router) {
	business.Get("/offer/words", access.Integrate, p.askWords)
	business.Post("/offer/words", access.Integrate, p.saveWords)
	business.Get("/offer/words/preview", access.Integrate, p.previewWords)
	business.Post("/offer/words/preview", access.Integrate, p.previewWords)
	business.Post("/offer/words/test", access.Integrate, p.testWords)
}

// newMessageWords returns the words for one kind of message in one language, as the query of the request selects them.
// If the query has an unknown kind or language, newMessageWords selects the first kind and the default language.
func newMessageWords(c *fiber.Ctx, o *offerPage) view.MessageWords {
	w := view.MessageWords{Offering: o.about, Kind: c.Query("kind"), Language: c.Query("language"),
		Default: toText(o.fields["default_language"]), Own: map[string]bool{}}
	for _, kind := range manifest.MessageKinds() {
		w.Own[kind] = findOwnTexts(o.fields, "intros")[kind] != nil || findOwnTexts(o.fields, "notes")[kind] != nil
		if w.Own[kind] || !isKindUnused(o.fields, kind) {
			w.Kinds = append(w.Kinds, kind)
		}
	}
	if !slices.Contains(w.Kinds, w.Kind) {
		w.Kind = w.Kinds[0]
	}
	w.Languages = []string{w.Default}
	languages, _ := o.fields["languages"].([]any)
	for _, l := range languages {
		if code := toText(l); code != w.Default {
			w.Languages = append(w.Languages, code)
		}
	}
	if !slices.Contains(w.Languages, w.Language) {
		w.Language = w.Default
	}
	w.Query = strings.TrimPrefix(w.Path(w.Kind, w.Language), "/offer/words")
	w.Form = newForm(listWordGroups(o.fields, &w), o.fields)
	w.Form.IsLocked = o.about.ManagedBy != ""
	return w
}

// findOwnTexts returns the owner's texts in a list of the manifest, intros or notes, by kind of message. It returns nil
// if there are none.
func findOwnTexts(fields document.Fields, list string) document.Fields {
	settings, _ := fields["notifications"].(document.Fields)
	texts, _ := settings[list].(document.Fields)
	return texts
}

// isKindUnused reports whether a kind of message is about tickets or reservations, and the business offers neither
// events nor rentals, respectively.
func isKindUnused(fields document.Fields, kind string) bool {
	for prefix, list := range map[string]string{"ticket": view.SectionEvents, "reservation": view.SectionRentals} {
		items, _ := fields[list].([]any)
		if strings.HasPrefix(kind, prefix) && (len(items) == 0 || offer.IsModuleOff(fields, list)) {
			return true
		}
	}
	return false
}

// listWordGroups returns the inputs for the owner's words. A translation has no input if the text in the default
// language is missing, because a manifest cannot have a translation alone.
func listWordGroups(fields document.Fields, w *view.MessageWords) []form.Group {
	var group form.Group
	for _, f := range []form.Field{{Name: "intros", Label: view.LabelIntro}, {Name: "notes", Label: view.LabelNote}} {
		list := f.Name
		f.Name, f.Kind = w.InputName(list), form.Text
		if w.Language != w.Default {
			if note, _ := findOwnTexts(fields, list)[w.Kind].(document.Fields); toText(note["text"]) == "" {
				w.Missing = append(w.Missing, f.Label)
				continue
			}
		}
		group.Fields = append(group.Fields, f)
	}
	return []form.Group{group}
}

func (p *Pages) askWords(c *fiber.Ctx) error {
	o, err := p.loadOfferPage(c, wordsSection, 0)
	if err != nil {
		return err
	}
	return p.showWords(c, fiber.StatusOK, o, newMessageWords(c, o))
}

func (p *Pages) showWords(c *fiber.Ctx, status int, o *offerPage, w view.MessageWords) error {
	o.page.Place = view.PlaceSettings
	return p.render(c, status, o.page, view.OwnWords(o.page, w))
}

// saveWords publishes the owner's words for one kind of message in one language.
func (p *Pages) saveWords(c *fiber.Ctx) error {
	o, w, err := p.readWords(c)
	if err != nil {
		return err
	}
	written := form.Write(o.fields, form.ListFields(w.Form.Groups), w.Form.Shown, w.Form.Values)
	dropTranslationsAlone(o.fields, w.Kind)
	at := w.Path(w.Kind, w.Language)
	return p.publishOffer(c, o, submission{
		posted: w.Form.Values, result: written, back: at, action: at,
		findEditedPath: func(document.Fields) string { return "" },
		showForm: func(status int, fieldErrors map[string]string) error {
			query := w.Query
			w.Offering, w.Form.FieldErrors = o.about, fieldErrors
			w.Query = query
			return p.showWords(c, status, o, w)
		},
	})
}

// readWords reads the submitted form with the owner's words, and the version of the offer that the form showed.
func (p *Pages) readWords(c *fiber.Ctx) (*offerPage, view.MessageWords, error) {
	posted, err := web.Form(c)
	if err != nil {
		return nil, view.MessageWords{}, err
	}
	o, err := p.loadOfferPage(c, wordsSection, parseVersion(posted.Get("base")))
	if err != nil {
		return nil, view.MessageWords{}, err
	}
	w := newMessageWords(c, o)
	w.Form.Values = maps.Clone(w.Form.Shown) // the form for notifications submits no words
	maps.Copy(w.Form.Values, posted)
	return o, w, nil
}

// dropTranslationsAlone removes the owner's texts of a kind that have translations but no text in the default language,
// because the person has cleared this text.
func dropTranslationsAlone(fields document.Fields, kind string) {
	for _, list := range []string{"intros", "notes"} {
		texts := findOwnTexts(fields, list)
		note, exists := texts[kind].(document.Fields)
		if !exists || toText(note["text"]) != "" {
			continue
		}
		if delete(texts, kind); len(texts) == 0 {
			delete(fields["notifications"].(document.Fields), list)
		}
	}
}

// newSample returns the sample message that the form shows. A text is nil if the form has no input for it, so that the
// published text stays, and if the translation is empty.
func newSample(w view.MessageWords, posted url.Values) notifications.SampleMessage {
	sample := notifications.SampleMessage{Kind: w.Kind, Language: w.Language}
	for list, text := range map[string]**string{"intros": &sample.Intro, "notes": &sample.Note} {
		if name := w.InputName(list); posted.Has(name) {
			typed := strings.TrimSpace(strings.ReplaceAll(posted.Get(name), "\r\n", "\n"))
			if typed != "" || w.Language == w.Default { // without a translation, the mail has the default language's text
				*text = &typed
			}
		}
	}
	return sample
}

// previewPolicy isolates the preview of a message. The preview has the styles of a mail in its elements, and runs no
// scripts. Only the owner's pages show it, in a frame.
const previewPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; " +
	"form-action 'none'; base-uri 'none'; sandbox"

// previewWords answers with a sample message as a document for the frame of the page. For GET, the message has the
// published words. For POST, it has the words in the form. Instead of a fault, the document shows what the person can
// do.
func (p *Pages) previewWords(c *fiber.Ctx) error {
	posted := url.Values{}
	if c.Method() == fiber.MethodPost {
		var err error
		if posted, err = web.Form(c); err != nil {
			return err
		}
	}
	o, err := p.loadOfferPage(c, wordsSection, 0)
	if err != nil {
		return err
	}
	w := newMessageWords(c, o)
	sample := newSample(w, posted)
	c.Set(fiber.HeaderContentSecurityPolicy, previewPolicy)
	c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	c.Set(fiber.HeaderCacheControl, "no-store")
	if problem := explainPlaceholder(o.page, sample); problem != "" {
		return web.Render(c, fiber.StatusUnprocessableEntity, view.NoPreview(o.page, problem))
	}
	preview, err := p.rooms.Sales.PreviewMessage(c.UserContext(), o.page.Business.Slug, sample)
	if fault.Is(err, fault.PeerUnavailable) {
		return web.Render(c, fiber.StatusServiceUnavailable, view.NoPreview(o.page, o.page.Words.Say("fault_later")))
	}
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	return c.SendString(preview.HTML)
}

// explainPlaceholder returns the message text about the first unknown placeholder in a sample, or "".
func explainPlaceholder(page *view.Page, sample notifications.SampleMessage) string {
	if sample.Intro == nil {
		return ""
	}
	unknown := manifest.FindUnknownPlaceholder(*sample.Intro)
	if unknown == "" {
		return ""
	}
	return page.Words.Fill(view.ProblemSentence(manifest.CodePlaceholder), map[string]string{"Value": unknown,
		"Placeholders": strings.Join(manifest.IntroPlaceholders(), ", ")})
}

// testWords mails the signed-in person a test message with the words in the form, and shows the form again. It saves
// nothing.
func (p *Pages) testWords(c *fiber.Ctx) error {
	o, w, err := p.readWords(c)
	if err != nil {
		return err
	}
	sample := newSample(w, w.Form.Values)
	if problem := explainPlaceholder(o.page, sample); problem != "" {
		w.Form.FieldErrors = map[string]string{w.InputName("intros"): problem}
		o.page.ErrorText = o.page.Words.Say("check")
		return p.showWords(c, fiber.StatusUnprocessableEntity, o, w)
	}
	if signed := signin.SignedInPerson(c); signed == nil || !signed.Person.IsVerified {
		o.page.ErrorText = o.page.Words.Say("words_test_unverified")
		return p.showWords(c, fiber.StatusConflict, o, w)
	}
	result, err := p.rooms.Sales.SendTestMessage(c.UserContext(), authorize.Principal(c), o.page.Business.Slug, sample)
	switch {
	case err == nil && result.Status == notifications.MessageSent:
		o.page.Notice = o.page.Words.Say("words_test_sent")
		return p.showWords(c, fiber.StatusOK, o, w)
	case err == nil:
		o.page.ErrorText = o.page.Words.Say("words_test_not_sent")
	case fault.Is(err, fault.Conflict), fault.Is(err, fault.PeerUnavailable):
		o.page.ErrorText = o.page.Words.Say("words_test_failed")
	case fault.Is(err, fault.RateLimited):
		o.page.ErrorText = o.page.Words.Say("fault_often")
	default:
		return err
	}
	status := fiber.StatusConflict
	if err != nil {
		status = fault.KindOf(err).Status
	}
	return p.showWords(c, status, o, w)
}
