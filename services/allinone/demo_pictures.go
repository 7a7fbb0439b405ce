package allinone

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

// demoFiles has the pictures of the demo business. Each PNG was rendered from the SVG with the same name, which is not
// embedded.
//
//go:embed demo/*.png
var demoFiles embed.FS

// demoPicture is a picture of the demo business. In the manifest, the text `line` is replaced by the text `shown`, in
// which %q is the id of the uploaded picture.
type demoPicture struct{ name, line, shown string }

var demoPictures = []demoPicture{
	{"logo", "logo_url: https://harbor.example/logo.png", "logo: %q"},
	{"cover", "  accent: ", "  cover: %q\n  accent: "},
	{"anna", "image_url: https://harbor.example/anna.png", "photo: %q"},
	{"ben", "{key: ben, name: Ben,", "{key: ben, photo: %q, name: Ben,"},
	{"clara", "name: Ben, category: Stylist, order: 2}", "name: Ben, category: Stylist, order: 2}\n" +
		"  - {key: clara, photo: %q, name: Clara, category: Stylist, order: 3}"},
	{"cut", "image_url: https://harbor.example/cut.png", "picture: %q"},
	{"sauna", "  - {key: sauna, name: Sauna,", demoWash + "  - {key: sauna, picture: %q, name: Sauna,"},
	{"yoga", "  - key: yoga\n", "  - key: yoga\n    picture: %q\n    translations: {pt: {name: Aula de ioga}}\n"},
	{"gala", "image_url: https://harbor.example/gala.png", "picture: %q"},
	{"kayak", "image_url: https://harbor.example/kayak.png", "picture: %q"},
}

// demoWash is a second service that customers can book together with a haircut.
const demoWash = `  - {key: wash, name: Wash & blow-dry, category: Hair, duration_minutes: 30, price: 22.00, order: 2,
     allow_multiple: true, staff: [anna, ben, clara], description_html: <p>With a head massage.</p>,
     translations: {pt: {name: Lavar e secar, category: Cabelo, description_html: <p>Com massagem.</p>}}}
`

// demoGallery are the pictures in the gallery of the demo business.
var demoGallery = []string{"yoga", "sauna", "kayak"}

// showDemoPictures uploads the pictures of the demo business and publishes its manifest with them. If the settings turn
// uploads off, the demo business has no pictures.
func (p *Process) showDemoPictures(ctx context.Context) error {
	ids := map[string]string{}
	for _, picture := range demoPictures {
		file, err := demoFiles.ReadFile("demo/" + picture.name + ".png")
		if err != nil {
			return err
		}
		added, err := p.uploadPicture(ctx, demoSlug, file)
		if errors.Is(err, errNoUploads) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the picture %s: %w", picture.name, err)
		}
		ids[picture.name] = added.ID
	}
	text, err := insertPictures(demoManifest, ids)
	if err != nil {
		return err
	}
	status, body, err := p.callAdmin(ctx, http.MethodPut, "", text)
	return checkStatus(http.StatusOK, status, body, err)
}

// insertPictures returns the manifest of the demo business with pictures and a gallery, with Clara as the third stylist,
// and with two services that can be booked together. The manifest without pictures has neither, because the public
// API's examples use it. The argument `ids` has the ids of the pictures by their names.
func insertPictures(text []byte, ids map[string]string) ([]byte, error) {
	for _, picture := range demoPictures {
		if bytes.Count(text, []byte(picture.line)) != 1 {
			return nil, fmt.Errorf("the demo's manifest must contain %q once", picture.line)
		}
		text = bytes.Replace(text, []byte(picture.line), fmt.Appendf(nil, picture.shown, ids[picture.name]), 1)
	}
	var gallery []string
	for _, name := range demoGallery {
		gallery = append(gallery, strconv.Quote(ids[name]))
	}
	return []byte(strings.NewReplacer("staff: [anna, ben] ", "staff: [anna, ben, clara] ", "allow_multiple: false",
		"allow_multiple: true", "  accent: ", "  gallery: ["+strings.Join(gallery, ", ")+"]\n  accent: ",
	).Replace(string(text))), nil
}

// errNoUploads means that this Slotmesh has no store for pictures.
var errNoUploads = errors.New(catalog.NoPictureStore)

// uploadPicture adds a file to the pictures of a business, as owners do by the admin API. Error: errNoUploads.
func (p *Process) uploadPicture(ctx context.Context, slug string, file []byte) (*catalog.UploadedPicture, error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "picture")
	if err != nil {
		return nil, err
	}
	if _, err := part.Write(file); err != nil {
		return nil, err
	}
	if err := form.Close(); err != nil {
		return nil, err
	}
	status, answer, err := sendRequest(ctx, http.MethodPost, p.AdminURL+"/admin/businesses/"+slug+"/media", http.Header{
		"Authorization": {"Bearer " + p.AdminToken}, "Content-Type": {form.FormDataContentType()}}, body.Bytes())
	if status == http.StatusConflict && bytes.Contains(answer, []byte(catalog.NoPictureStore)) {
		return nil, errNoUploads
	}
	if err := checkStatus(http.StatusCreated, status, answer, err); err != nil {
		return nil, err
	}
	added := new(catalog.UploadedPicture)
	return added, json.Unmarshal(answer, added)
}
