package e2e

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// furnish adds to the manifest of a salon everything that a booking page can show: pictures (the ids of the cover,
// the logo and another one), two locations, contact, legal texts, buttons and links.
const furnish = `page: {accent: "#0b6e4f", cover: %[1]q, gallery: [%[3]q, %[1]q],
  about_html: <p>By the old harbour.</p><p>We cut <b>hair</b> since 1986.</p>}
logo: %[2]q
locations:
  - {key: harbour, kind: place, name: Studio at the harbour, geo: {lat: 38.71, lon: -9.13},
     address: {street: Rua do Cais 12, postal_code: 1100-001, city: Lisboa, country: PT},
     directions_html: "<p>Second door, first floor.</p>", phone: "+351 210 000 000"}
  - {key: video, kind: link, name: Video call, link: "https://meet.example.org/{code}"}
contact: {phone: "+351 210 000 000", email: hello@harbor.example, website: "https://harbor.example",
  messenger: "https://chat.example/harbor"}
legal: {imprint: Harbor Studio Lda., privacy: We keep your name., terms: "https://harbor.example/terms"}
policy_text: Please arrive 5 minutes early.
social_links: {instagram: "https://instagram.example/harbor"}
action_buttons: [{type: link, label: Menu, content: "https://harbor.example/menu", order: 1}]
self_service: {cancel_until_hours: 2, reschedule_until_hours: 2}
cancellation_policy: [{hours_before: 48, refund_percent: 100}, {hours_before: 24, refund_percent: 50}]
`

// publishFurnished publishes a business that shows all that a booking page can show. publishFurnished returns the id of
// its cover.
func (p *pages) publishFurnished(t *testing.T, slug string) string {
	t.Helper()
	manifest := strings.Replace(buildSelfServiceSalon(slug),
		"self_service: {cancel_until_hours: 0, reschedule_until_hours: 0}\n", "", 1)
	manifest, _, _ = strings.Cut(manifest, "cancellation_policy:")
	p.publish(t, slug, manifest)
	cover, logo := p.uploadPicture(t, slug, "cover"), p.uploadPicture(t, slug, "logo")
	cut, sauna := p.uploadPicture(t, slug, "cut"), p.uploadPicture(t, slug, "sauna")
	manifest = strings.NewReplacer(
		"name: Salon", "name: Harbor Studio", "staff:\n", fmt.Sprintf("staff:\n  - {key: ines, name: Inês, photo: %q}\n",
			p.uploadPicture(t, slug, "clara")),
		"staff: [s0]", "staff: [s0, ines]",
		"{key: cut,", fmt.Sprintf("{key: cut, category: Hair, description_html: <p>Wash and dry.</p>, "+
			"locations: [harbour, video], picture: %q,", cut),
		"{key: sauna,", fmt.Sprintf("{key: sauna, picture: %q,", sauna)).Replace(manifest)
	a := p.callAdmin(t, http.MethodPut, "businesses/"+slug, []byte(manifest+fmt.Sprintf(furnish, cover, logo, sauna)))
	a.checkStatus(t, http.StatusOK, "")
	return cover
}

// uploadPicture adds a picture of the demo business to the pictures of a business. uploadPicture returns its id.
func (p *pages) uploadPicture(t *testing.T, slug, name string) string {
	t.Helper()
	file, err := os.ReadFile("../demo/" + name + ".png")
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	if err == nil {
		var part io.Writer
		if part, err = form.CreateFormFile("file", "picture.png"); err == nil {
			_, err = part.Write(file)
		}
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	header := http.Header{"Authorization": {"Bearer " + p.AdminToken}, "Content-Type": {form.FormDataContentType()}}
	var uploaded catalog.UploadedPicture
	p.do(t, http.MethodPost, p.AdminURL+"/admin/businesses/"+slug+"/media", body.Bytes(), header).decode(t,
		http.StatusCreated, &uploaded)
	return uploaded.ID
}

// picturesScript is a JavaScript expression that loads all pictures of the page and returns a line for each fault: a
// picture that is not shown, has no reserved place or loads a file that is too large for its place, and a picture below
// the first screen that the browser loads at once.
const picturesScript = `Promise.all([...document.images].map(async (i) => {
	const faults = [], place = i.getBoundingClientRect(), below = place.top + scrollY > 3 * innerHeight;
	if (below && i.loading !== "lazy") faults.push("is loaded at once");
	i.loading = "eager";
	if (!await i.decode().then(() => true, () => false)) faults.push("is not shown");
	if ([...i.parentElement.querySelectorAll("source")].some((s) => s.checkVisibility())) faults.push("has a source with a place of its own");
	if (!i.getAttribute("width") || !i.getAttribute("height")) faults.push("has no size");
	if (!/\/media\/[0-9a-f]{64}-\d+\.webp$/.test(i.currentSrc)) faults.push("is not the WebP file of an upload");
	if (place.width < 100 && !i.currentSrc.endsWith("-200.webp")) faults.push("is too large");
	return faults.map((f) => i.outerHTML.slice(0, 60) + " " + f).join("\n");
})).then((all) => all.filter(Boolean).join("\n"))`

// bookFurnished books at a business that shows all that a booking page can show, in both color schemes, both widths and
// both directions of writing.
func (p *pages) bookFurnished(t *testing.T) {
	t.Parallel()
	cover := p.publishFurnished(t, "furnished")
	cut := p.idsByName(t, "furnished", "services")["Cut"]
	for date, profile := range map[string]visitor.Profile{
		"2027-03-08": {Locale: "en-GB"}, "2027-03-09": {Locale: "en-GB", Width: 1280},
		"2027-03-10": {Locale: "ar", Dark: true}, "2027-03-15": {Locale: "ar", Width: 1280, Dark: true},
	} {
		name := fmt.Sprintf("%s-%d", profile.Locale, max(profile.Width, 390))
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := p.openVisitor(t, profile)
			check := func(step, selector string, pictures int) {
				t.Helper()
				v.ExpectElement(selector)
				if n := visitor.Eval[int](v, "document.images.length"); n != pictures {
					t.Errorf("%s: %d pictures, want %d", step, n, pictures)
				}
				v.Check()
				for _, faults := range []string{visitor.Eval[string](v, picturesScript), visitor.Eval[string](v, misfitScript)} {
					if faults != "" {
						t.Errorf("%s:\n%s", step, faults)
					}
				}
				v.SaveScreenshot("furnished-" + name + "-" + step)
			}
			v.Go(p.PublicURL + "/b/furnished")
			check("home", ".front.covered .logo", 6) // cover, logo, two services, gallery
			v.ExpectText("Harbor Studio", "Rua do Cais 12", "Menu", "Instagram", "Please arrive 5 minutes early.")
			shared := visitor.Eval[string](v, `document.querySelector("[property='og:image']").content`)
			if want := p.PublicURL + "/media/" + cover + "-800.jpg"; shared != want {
				t.Errorf("the picture for other sites is %s, want %s", shared, want)
			}
			if written := visitor.Eval[string](v, "document.dir"); (written == "rtl") != (profile.Locale == "ar") {
				t.Errorf("the page is written %s", written)
			}
			v.Go(p.PublicURL + "/b/furnished/when?staff=any&service=" + cut + "&date=" + date)
			v.ExpectText("Video call", "Studio at the harbour")
			check("time", ".starts a.pill", 2) // logo, a member
			v.PressElement(".starts a.pill")
			v.ExpectElement("input[name=name]")
			check("details", "form.fields", 1)
			fillContact(v)
			v.PressElement("main button[type=submit]")
			check("done", ".facts", 1)
			v.ExpectText("Rua do Cais 12")
			if profile.Locale == "en-GB" {
				v.ExpectText("Due at the appointment €")
			}
			v.Go(visitor.Eval[string](v, "location.origin + location.pathname"))
			check("manage", ".actions", 1)
		})
	}
}
