package console_test

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
)

// form returns a multipart body with a part, and its type.
func form(t *testing.T, part, content string) (string, string) {
	t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	if err := w.WriteField("about", "ignored"); err != nil {
		t.Fatal(err)
	}
	file, err := w.CreateFormFile(part, "../evil.svg")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return body.String(), w.FormDataContentType()
}

func TestPicturesAreUploadedListedAndDeleted(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	manager, _ := addTokenAs(t, w, id, access.Manager)
	body, kind := form(t, "file", "GIF89a, a picture")
	got := w.CallAs(t, manager, "POST", harb+"/media", body, "Content-Type", kind)
	var added catalog.UploadedPicture
	if err := json.Unmarshal([]byte(got.Body), &added); err != nil || got.Status != 201 || !catalog.IsPictureID(added.ID) {
		t.Fatalf("%d %s", got.Status, got.Body)
	}
	if got := w.Call(t, "GET", harb+"/media", ""); got.Status != 200 || !strings.Contains(got.Body, added.ID) {
		t.Errorf("the list: %d %s", got.Status, got.Body)
	}
	if got := w.CallAs(t, manager, "DELETE", harb+"/media/"+added.ID, ""); got.Status != 204 {
		t.Errorf("the deletion: %d %s", got.Status, got.Body)
	}
	expect(t, w.Call(t, "DELETE", harb+"/media/"+added.ID, ""), 404, "not_found", "Picture not found")
	expect(t, w.Call(t, "DELETE", harb+"/media/x", ""), 404, "not_found", "Picture not found")
	viewer, _ := addTokenAs(t, w, id, access.Viewer)
	expect(t, w.CallAs(t, viewer, "POST", harb+"/media", body, "Content-Type", kind), 403, "forbidden", "")
}

func TestUploadErrorsNameProblem(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	publish(t, w)
	body, kind := form(t, "file", "<svg/>")
	expect(t, w.Call(t, "POST", harb+"/media", body, "Content-Type", kind), 400, "invalid_parameter", "file: ")
	other, kind := form(t, "picture", "GIF89a")
	expect(t, w.Call(t, "POST", harb+"/media", other, "Content-Type", kind), 400, "invalid_parameter", "file: missing")
	expect(t, w.Call(t, "POST", harb+"/media", other[:len(other)-30], "Content-Type", kind), 400, "invalid_parameter", "")
	expect(t, w.Call(t, "POST", harb+"/media", "GIF89a", "Content-Type", "image/gif"), 415, "unsupported_media_type",
		"multipart/form-data")
	large, kind := form(t, "file", strings.Repeat("a", 11<<20))
	expect(t, w.Call(t, "POST", harb+"/media", large, "Content-Type", kind), 413, "payload_too_large", "")
}

// TestOwnersHostServesPictures shows that a signed-in person gets the files of pictures on the host of the owner's
// pages, with the headers of the booking page's host.
func TestOwnersHostServesPictures(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	id := publish(t, w)
	mia := w.AddSession(t, "mia@example.com", access.Member{BusinessID: id, Role: access.Viewer})
	body, kind := form(t, "file", "GIF89a, a picture")
	var added catalog.UploadedPicture
	if err := json.Unmarshal([]byte(w.Call(t, "POST", harb+"/media", body, "Content-Type", kind).Body), &added); err != nil {
		t.Fatal(err)
	}
	path := added.Path(400, "webp")
	got := getPage(t, w, path, mia)
	if got.Status != 200 || got.Body != strings.TrimPrefix(path, "/media/") {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	for name, want := range catalog.PictureHeaders("webp") {
		if got.Header.Get(name) != want {
			t.Errorf("%s: %q, want %q", name, got.Header.Get(name), want)
		}
	}
	for _, other := range []string{added.Path(500, "webp"), "/media/x", catalog.Picture{ID: strings.Repeat("0", 64)}.Path(400,
		"jpg")} {
		if got := getPage(t, w, other, mia); got.Status != 404 {
			t.Errorf("%s: %d", other, got.Status)
		}
	}
	if got := getPage(t, w, path, ""); got.Status == 200 {
		t.Error("a person who is not signed in got the picture")
	}
}
