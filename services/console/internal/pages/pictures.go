package pages

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/form"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
)

// sendPicture answers with a file of an uploaded picture, such as /media/{id}-400.webp. The forms and previews of the
// owner's pages show pictures by the same paths as the booking page, which may be on another host.
func (p *Pages) sendPicture(c *fiber.Ctx) error {
	name := c.Params("file")
	_, _, format, ok := catalog.ParsePictureFile(name)
	if !ok {
		return fault.New(fault.NotFound, "Picture not found")
	}
	content, err := p.rooms.Businesses.PictureFile(c.UserContext(), name)
	if err != nil {
		return err
	}
	for header, value := range catalog.PictureHeaders(format) {
		c.Set(header, value)
	}
	return c.Send(content)
}

// Limits of a multipart form. A form of the offer has at most a few hundred inputs.
const (
	maxFormParts = 10_000
	maxFormValue = 4 << 20
)

// chosenFile is a file that a person has chosen in a form. The field `name` is the name of the picture's field.
type chosenFile struct {
	name    string
	content []byte
}

// readOfferForm reads a form of the offer, and the files that the person has chosen in it. Browsers send a form with
// inputs for files as multipart/form-data. Faults: the faults of [web.Form].
func readOfferForm(c *fiber.Ctx) (url.Values, []chosenFile, error) {
	if !isMultipart(c) {
		values, err := web.Form(c)
		return values, nil, err
	}
	if err := web.SameOrigin(c); err != nil {
		return nil, nil, err
	}
	body, err := server.Body(c)
	if err != nil {
		return nil, nil, err
	}
	_, parameters, err := mime.ParseMediaType(c.Get(fiber.HeaderContentType))
	if err != nil || parameters["boundary"] == "" {
		return nil, nil, request.Invalid("The form is not well-formed.")
	}
	return parseMultipart(multipart.NewReader(bytes.NewReader(body), parameters["boundary"]))
}

// isMultipart reports whether a browser has sent the form with files.
func isMultipart(c *fiber.Ctx) bool {
	kind, _, _ := strings.Cut(c.Get(fiber.HeaderContentType), ";")
	return strings.EqualFold(strings.TrimSpace(kind), fiber.MIMEMultipartForm)
}

func parseMultipart(parts *multipart.Reader) (url.Values, []chosenFile, error) {
	values, files := url.Values{}, []chosenFile(nil)
	for range maxFormParts {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			return values, files, nil
		}
		if err != nil {
			return nil, nil, request.Invalid("The form is not well-formed.")
		}
		name, isFile := strings.CutSuffix(part.FormName(), form.FileInput)
		limit := int64(maxFormValue)
		if isFile {
			limit = catalog.MaxPictureBytes + 1
		}
		content, err := io.ReadAll(io.LimitReader(part, limit))
		if err != nil {
			return nil, nil, request.Invalid("The form is not well-formed.")
		}
		switch {
		case !isFile:
			values.Add(name, string(content))
		case len(content) > 0 || part.FileName() != "": // otherwise the person has chosen no file
			files = append(files, chosenFile{name, content})
		}
	}
	return nil, nil, request.Invalid("The form has too many inputs.")
}

// addPictures makes the chosen files pictures of the business, and writes their ids into the values of the form. It
// returns the ids of the message texts about refused files, by the name of the input. The other inputs of the form
// cannot add pictures: addPictures ignores files for fields that the form does not have.
func (p *Pages) addPictures(c *fiber.Ctx, o *offerPage, f *view.Form, files []chosenFile) (map[string]string, error) {
	refused := map[string]string{}
	fields := form.ListFields(f.Groups)
	for _, file := range files {
		field, found := form.FindField(fields, file.name)
		if !found || field.Kind != form.Picture && field.Kind != form.Pictures || o.about.ManagedBy != "" {
			continue
		}
		added, err := p.rooms.Offer.AddPicture(c.UserContext(), authorize.Principal(c), o.page.Business.Slug, file.content)
		if err != nil {
			sentence := explainRefusedPicture(o.page, err)
			if sentence == "" {
				return nil, err
			}
			refused[file.name] = sentence
			continue
		}
		form.AddPicture(f.Values, fields, file.name, added.ID)
	}
	return refused, nil
}

// explainRefusedPicture returns the message text about a file that was refused: what is wrong, and what would be right.
// It returns "" if the person cannot solve the fault.
func explainRefusedPicture(page *view.Page, err error) string {
	f := fault.Of(err)
	switch f.Kind {
	case fault.PayloadTooLarge:
		return page.Words.Say("picture_large")
	case fault.PeerUnavailable, fault.OutcomeUnknown:
		return page.Words.Say("fault_later")
	case fault.Conflict:
		if f.Sentence == catalog.NoPictureStore {
			return page.Words.Say("picture_off")
		}
		return page.Words.Say("picture_many")
	case fault.InvalidParameter:
	default:
		return ""
	}
	switch strings.TrimPrefix(f.Sentence, "file: ") {
	case catalog.PictureIsEmpty, catalog.PictureHasOtherFormat:
		return page.Words.Say("picture_format")
	case catalog.PictureIsSVG:
		return page.Words.Fill("picture_kind", map[string]string{"Format": "SVG"})
	case catalog.PictureIsHEIC:
		return page.Words.Fill("picture_kind", map[string]string{"Format": "HEIC"})
	case catalog.PictureHasTooManyPixels:
		return page.Words.Say("picture_pixels")
	}
	return page.Words.Say("picture_damaged")
}

// handleFormButton does what a button of a form asks for that does not save the form. It first adds the chosen files to
// the pictures of the business. It returns the message texts about refused files, and whether the form is to be shown
// again without being saved.
func (p *Pages) handleFormButton(c *fiber.Ctx, o *offerPage, f *view.Form, files []chosenFile) (bool, error) {
	refused, err := p.addPictures(c, o, f, files)
	if err != nil {
		return false, err
	}
	f.FieldErrors = refused
	more := f.Values.Get("more")
	if more != "" {
		form.HandleButton(f.Values, form.ListFields(f.Groups), more)
		f.AddedRow = more
	}
	if len(refused) > 0 {
		o.page.ErrorText = o.page.Words.Say("check")
	}
	return more != "" || len(refused) > 0, nil
}

// statusOf returns the status of a form that is shown again.
func statusOf(f view.Form) int {
	if len(f.FieldErrors) > 0 {
		return fiber.StatusUnprocessableEntity
	}
	return fiber.StatusOK
}

// newPictureFields returns the field for the uploaded picture of an object, and the field for the address of a picture
// on the web. The booking page shows the latter if there is no uploaded picture. The argument `name` is the name of the
// first field, and `address` that of the second.
func newPictureFields(name, label, address string) []form.Field {
	return []form.Field{
		{Name: name, Kind: form.Picture, Label: label, Hint: "picture_hint"},
		{Name: address, Kind: form.Address, Label: "offer_picture_hint"},
	}
}

// dropBlankAddresses returns the groups without the fields for addresses of pictures that the object does not have,
// because owners upload pictures.
func dropBlankAddresses(groups []form.Group, object document.Fields) []form.Group {
	kept := slices.Clone(groups)
	for i := range kept {
		kept[i].Fields = slices.DeleteFunc(slices.Clone(kept[i].Fields), func(f form.Field) bool {
			return f.Label == "offer_picture_hint" && toText(object[f.Name]) == ""
		})
	}
	return kept
}
