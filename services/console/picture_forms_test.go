package console_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// postPictures sends a form as a browser without scripts does if the form has inputs for files. The argument `files` has
// the contents of the chosen files by the names of their inputs.
func postPictures(t *testing.T, w *consoletest.Fixture, path, session string, values url.Values,
	files map[string]string) consoletest.Answer {
	t.Helper()
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, list := range values {
		for _, value := range list {
			if err := form.WriteField(name, value); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, content := range files {
		part, err := form.CreateFormFile(name, "picture")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := form.Close(); err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), "POST", w.URL+path, &body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Cookie", "slotmesh-session="+session)
	request.Header.Set("Content-Type", form.FormDataContentType())
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	return send(t, request)
}

// idOf returns the id of the picture with this content.
func idOf(content string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(content))) }

// TestFormUploadsPicture shows that a person without scripts uploads a picture, sees it before it is saved, saves it and
// removes it.
func TestFormUploadsPicture(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
	shown := getPage(t, w, businessForm, mia).Body
	for _, want := range []string{`enctype="multipart/form-data"`, `type="file"`, `name="logo.file"`, "up to 10 MB"} {
		if !strings.Contains(shown, want) {
			t.Errorf("%s is not in the form", want)
		}
	}
	const gif = "GIF89a, the logo"
	got := postPictures(t, w, businessForm, mia, url.Values{"base": {"1"}, "name": {"Quay"}, "more": {"logo.upload"}},
		map[string]string{"logo.file": gif})
	preview := `src="/media/` + idOf(gif) + `-400.webp"`
	if got.Status != 200 || !strings.Contains(got.Body, preview) || !strings.Contains(got.Body, `value="Quay"`) {
		t.Fatalf("after the upload: %d %s", got.Status, got.Body)
	}
	if strings.Contains(readText(t, w), "logo:") {
		t.Error("the upload saved the form")
	}
	got = postPictures(t, w, businessForm, mia, url.Values{"base": {"1"}, "name": {"Quay"}, "logo": {idOf(gif)}}, nil)
	if got.Status != 303 || !strings.Contains(readText(t, w), "logo: "+idOf(gif)) {
		t.Fatalf("after saving: %d %s", got.Status, readText(t, w))
	}
	if shown := getPage(t, w, businessForm, mia).Body; !strings.Contains(shown, preview) {
		t.Error("the saved picture is not in the form")
	}
	got = postPictures(t, w, businessForm, mia, url.Values{"base": {"2"}, "name": {"Quay"}, "logo": {idOf(gif)},
		"more": {"logo.remove"}}, nil)
	if got.Status != 200 || strings.Contains(got.Body, preview) {
		t.Errorf("after the button Remove: %d", got.Status)
	}
	postPictures(t, w, businessForm, mia, url.Values{"base": {"2"}, "name": {"Quay"}, "logo": {""}}, nil)
	if strings.Contains(readText(t, w), "logo:") {
		t.Errorf("the logo was not removed:\n%s", readText(t, w))
	}
}

// TestFormOrdersGallery shows that files that are chosen and saved at once are added to the gallery and the cover, and
// that buttons change the order.
func TestFormOrdersGallery(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
	const at = "/business/harbor/offer/page"
	one, two := "GIF one", "GIF two"
	got := postPictures(t, w, at, mia, url.Values{"base": {"1"}, "page.gallery": {""}},
		map[string]string{"page.cover.file": "GIF cover", "page.gallery.file": one})
	if got.Status != 303 {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	got = postPictures(t, w, at, mia, url.Values{"base": {"2"}, "page.cover": {idOf("GIF cover")},
		"page.gallery": {idOf(one), ""}, "more": {"page.gallery.upload"}}, map[string]string{"page.gallery.file": two})
	first, second := strings.Index(got.Body, idOf(one)), strings.Index(got.Body, idOf(two))
	if got.Status != 200 || first < 0 || second < first {
		t.Fatalf("after the upload: %d %s", got.Status, got.Body)
	}
	got = postPictures(t, w, at, mia, url.Values{"base": {"2"}, "page.cover": {idOf("GIF cover")},
		"page.gallery": {idOf(one), idOf(two), ""}, "more": {"page.gallery.earlier.1"}}, nil)
	if strings.Index(got.Body, idOf(two)) > strings.Index(got.Body, idOf(one)) {
		t.Error("the button did not move the second picture")
	}
	postPictures(t, w, at, mia, url.Values{"base": {"2"}, "page.cover": {idOf("GIF cover")},
		"page.gallery": {idOf(two), idOf(one), ""}}, nil)
	text := readText(t, w)
	if !strings.Contains(text, "cover: "+idOf("GIF cover")) ||
		strings.Index(text, idOf(two)) > strings.Index(text, idOf(one)) {
		t.Errorf("the manifest:\n%s", text)
	}
}

// TestFormsHavePictures shows that the forms of members, services, classes, events and rentals have an input for a file.
func TestFormsHavePictures(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
	for section, input := range map[string]string{"team": "photo.file", "services": "picture.file",
		"classes": "picture.file", "events": "picture.file", "rentals": "picture.file"} {
		if got := getPage(t, w, "/business/harbor/offer/"+section+"/new", mia); !strings.Contains(got.Body,
			`name="`+input+`"`) || strings.Contains(got.Body, `name="image_url"`) {
			t.Errorf("%s: %d %s", section, got.Status, got.Body)
		}
	}
	got := postPictures(t, w, "/business/harbor/offer/team/new", mia, url.Values{"name": {"Cleo"}, "active": {"yes"}},
		map[string]string{"photo.file": "GIF a face"})
	if text := readText(t, w); got.Status != 303 || !strings.Contains(text, "photo: "+idOf("GIF a face")) {
		t.Errorf("a new member: %d %s", got.Status, text)
	}
}

// TestFormExplainsRefusedPicture shows that a refused file is explained at its input in the reader's language, that the
// other values stay, and that the form is not saved.
func TestFormExplainsRefusedPicture(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
	for content, want := range map[string]string{
		"no picture": "Diese Datei ist kein Bild.", "<svg/>": "SVG-Dateien werden nicht angenommen.",
		"heic": "HEIC-Dateien werden nicht angenommen.", "damaged": "Diese Datei lässt sich nicht lesen.",
		"pixels": "Dieses Bild hat zu viele Pixel.", "many": "Es ist kein Platz für weitere Bilder.",
		"off": "Hier können keine Bilder hochgeladen werden.", "": "Diese Datei ist kein Bild.",
	} {
		got := postPictures(t, w, businessForm+"?lang=de", mia, url.Values{"base": {"1"}, "name": {"Quay"}},
			map[string]string{"logo.file": content})
		_, field, _ := strings.Cut(got.Body, `name="logo.file"`)
		field, _, _ = strings.Cut(field, `class="cell`)
		if got.Status != 422 || !strings.Contains(field, want) || !strings.Contains(got.Body, `value="Quay"`) {
			t.Errorf("%q: %d %s", content, got.Status, field)
		}
	}
	got := postPictures(t, w, businessForm, mia, url.Values{"base": {"1"}, "name": {"Quay"}},
		map[string]string{"logo.file": strings.Repeat("a", 11<<20)})
	if got.Status != 413 || !strings.Contains(got.Body, "This file is larger than 10 MB.") {
		t.Errorf("a large file: %d %.300s", got.Status, got.Body)
	}
	if text := readText(t, w); strings.Contains(text, "Quay") {
		t.Errorf("a refused form was saved:\n%s", text)
	}
}

// TestUploadByFormNeedsPermission shows that a form uploads nothing for a person who may not change the offer, for a
// field that the form does not have, and for a request of another site.
func TestUploadByFormNeedsPermission(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Manager})
	viewer := w.AddSession(t, "vera@example.com", access.Member{BusinessID: id, Role: access.Viewer})
	got := postPictures(t, w, businessForm, viewer, url.Values{"base": {"1"}}, map[string]string{"logo.file": "GIF a"})
	if got.Status != 403 {
		t.Errorf("a viewer: %d", got.Status)
	}
	postPictures(t, w, businessForm, mia, url.Values{"base": {"1"}, "name": {"Quay"}},
		map[string]string{"name.file": "GIF b", "other.file": "GIF c"})
	if got := w.Call(t, "GET", harb+"/media", ""); !strings.Contains(got.Body, `"pictures":[]`) {
		t.Errorf("pictures were added: %s", got.Body)
	}
}
