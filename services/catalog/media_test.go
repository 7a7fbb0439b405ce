package catalog

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	peercatalog "github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/postgres"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/catalog/internal/media/files"
	"github.com/slotmesh/slotmesh/services/catalog/internal/store"
	"github.com/slotmesh/slotmesh/services/catalog/internal/usecase"
)

// startWithMedia starts a catalog with a folder for pictures, and publishes the business harbor.
func startWithMedia(t *testing.T, change ...func(*Config)) *harness {
	t.Helper()
	h := newHarness(t, append([]func(*Config){func(c *Config) {
		c.MediaStore, c.MediaMaxPictures, c.MediaMaxBytes = t.TempDir(), 5, 1<<20
	}}, change...)...)
	h.mustPublish(harborYAML)
	return h
}

// pngFile returns a picture file with a grey value.
func pngFile(t *testing.T, grey uint8) []byte {
	t.Helper()
	picture := image.NewGray(image.Rect(0, 0, 30, 20))
	for n := range picture.Pix {
		picture.Pix[n] = grey
	}
	picture.SetGray(0, 0, color.Gray{255 - grey})
	var file bytes.Buffer
	if err := png.Encode(&file, picture); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func (h *harness) addPicture(grey uint8) *peercatalog.UploadedPicture {
	h.t.Helper()
	added, err := h.owner.AddPicture(h.t.Context(), "harbor", derivedID("harbor"), pngFile(h.t.(*testing.T), grey))
	if err != nil {
		h.t.Fatal(err)
	}
	return added
}

// fileCount returns the number of files in the folder for pictures.
func (h *harness) fileCount() int {
	h.t.Helper()
	count := 0
	if err := filepath.WalkDir(h.config.MediaStore, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			count++
		}
		return err
	}); err != nil {
		h.t.Fatal(err)
	}
	return count
}

// sweep removes unused pictures and files, as the job of the service does every hour.
func (h *harness) sweep(at time.Time) {
	h.t.Helper()
	pool, err := postgres.Open(h.t.Context(), h.config.Postgres, "catalog", telemetry.Discard())
	if err != nil {
		h.t.Fatal(err)
	}
	defer pool.Close()
	pictures := (&usecase.Pictures{Store: store.New(pool), Files: files.Folder(h.config.MediaStore),
		KeepUnused: 7 * 24 * time.Hour, Clock: clock.Fixed(at), Telemetry: telemetry.Discard()}).Prepare()
	if err := pictures.Sweep(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

func TestUploadedPictureIsServed(t *testing.T) {
	t.Parallel()
	h := startWithMedia(t)
	added := h.addPicture(200)
	if added.Width != 30 || added.Height != 20 || added.Colour != "#c8c8c8" || added.MIME != "image/png" || added.Used {
		t.Errorf("%+v", added)
	}
	if again := h.addPicture(200); again.ID != added.ID || !again.CreatedAt.Equal(added.CreatedAt) {
		t.Errorf("the same file again: %+v", again)
	}
	for _, width := range peercatalog.PictureWidths {
		for format, mediaType := range map[string]string{"webp": "image/webp", "jpg": "image/jpeg"} {
			a := h.call(http.MethodGet, h.public+added.Path(width, format), nil)
			if a.status != http.StatusOK || a.header.Get("Content-Type") != mediaType ||
				a.header.Get("Cache-Control") != "public, max-age=31536000, immutable" ||
				a.header.Get("X-Content-Type-Options") != "nosniff" || len(a.body) < 20 {
				t.Errorf("%s: %d %v", added.Path(width, format), a.status, a.header)
			}
		}
	}
	for name, want := range peercatalog.PictureHeaders("jpg") {
		if got := h.call(http.MethodGet, h.public+added.Path(400, "jpg"), nil).header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if file, err := h.owner.PictureFile(t.Context(), peercatalog.PictureFile(added.ID, 800, "webp")); err != nil ||
		len(file) < 20 {
		t.Errorf("the file of the internal port: %d bytes, %v", len(file), err)
	}
	for _, path := range []string{added.Path(500, "webp"), added.Path(400, "png"), "/media/" + added.ID, "/media/x-400.webp",
		peercatalog.Picture{ID: strings.Repeat("0", 64)}.Path(400, "webp"), "/media/..%2fx", added.Path(400, "webp") + "x"} {
		if a := h.call(http.MethodGet, h.public+path, nil); a.status != http.StatusNotFound {
			t.Errorf("%s: %d", path, a.status)
		}
	}
}

func TestUploadRefusesOtherFiles(t *testing.T) {
	t.Parallel()
	h := startWithMedia(t)
	for name, file := range map[string][]byte{"svg": []byte("<svg/>"), "none": nil, "cut": pngFile(t, 1)[:60]} {
		_, err := h.owner.AddPicture(t.Context(), "harbor", derivedID("harbor"), file)
		if !fault.Is(err, fault.InvalidParameter) || !strings.HasPrefix(fault.Of(err).Sentence, "file: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	large := append(pngFile(t, 1), make([]byte, peercatalog.MaxPictureBytes)...)
	if _, err := h.owner.AddPicture(t.Context(), "harbor", derivedID("harbor"), large); !fault.Is(err, fault.PayloadTooLarge) {
		t.Errorf("a large file: %v", err)
	}
	if _, err := h.owner.AddPicture(t.Context(), "other", derivedID("other"), pngFile(t, 1)); !fault.Is(err, fault.BusinessNotFound) {
		t.Errorf("an unknown business: %v", err)
	}
	_, err := h.owner.AddPicture(t.Context(), "harbor", derivedID("other"), pngFile(t, 1))
	if !fault.Is(err, fault.BusinessNotFound) {
		t.Errorf("another business of the slug: %v", err)
	}
	if h.fileCount() != 0 {
		t.Error("files of refused pictures are stored")
	}
	without := newHarness(t)
	without.mustPublish(harborYAML)
	if _, err := without.owner.AddPicture(t.Context(), "harbor", derivedID("harbor"), pngFile(t, 1)); !fault.Is(err, fault.Conflict) {
		t.Errorf("without a store: %v", err)
	}
}

func TestPicturesAreLimitedAndListed(t *testing.T) {
	t.Parallel()
	h := startWithMedia(t)
	ids := map[string]bool{}
	for grey := range uint8(5) {
		ids[h.addPicture(grey).ID] = true
	}
	if _, err := h.owner.AddPicture(t.Context(), "harbor", derivedID("harbor"), pngFile(t, 9)); !fault.Is(err, fault.Conflict) {
		t.Errorf("a sixth picture: %v", err)
	}
	known := h.addPicture(4) // a known picture is not one more
	page := request.Page{Limit: 2}
	listed := 0
	for {
		list, err := h.owner.Pictures(t.Context(), "harbor", page)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list.Pictures {
			listed++
			if !ids[p.ID] || p.Bytes == 0 {
				t.Errorf("listed: %+v", p)
			}
		}
		if page.Cursor = list.NextCursor; page.Cursor == "" {
			break
		}
	}
	if listed != 5 {
		t.Errorf("%d pictures are listed", listed)
	}
	h.mustPublish(harborYAML + "\nlogo: " + known.ID + "\n")
	if err := h.owner.DeletePicture(t.Context(), "harbor", derivedID("harbor"), known.ID); !fault.Is(err, fault.Conflict) {
		t.Errorf("deleting the logo: %v", err)
	}
	h.mustPublish(harborYAML)
	if err := h.owner.DeletePicture(t.Context(), "harbor", derivedID("harbor"), known.ID); err != nil {
		t.Fatal(err)
	}
	if err := h.owner.DeletePicture(t.Context(), "harbor", derivedID("harbor"), known.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("deleting it again: %v", err)
	}
	if _, err := h.owner.AddPicture(t.Context(), "harbor", derivedID("harbor"), pngFile(t, 9)); err != nil {
		t.Errorf("after a deletion: %v", err)
	}
	small := startWithMedia(t, func(c *Config) { c.MediaMaxBytes = 100 })
	if _, err := small.owner.AddPicture(t.Context(), "harbor", derivedID("harbor"), pngFile(t, 9)); !fault.Is(err, fault.Conflict) {
		t.Errorf("above the limit of bytes: %v", err)
	}
}

// TestSweepRemovesUnusedPictures shows that a picture stays while a version shows it, even an old
// one; that others go after a week; and that their files go when no business has the picture.
func TestSweepRemovesUnusedPictures(t *testing.T) {
	t.Parallel()
	h := startWithMedia(t)
	shown, unused, shared := h.addPicture(1), h.addPicture(2), h.addPicture(3)
	h.call(http.MethodPut, h.internal+"/internal/businesses/other",
		[]byte(strings.Replace(harborYAML, "slug: harbor", "slug: other", 1)+"\n"))
	if _, err := h.owner.AddPicture(t.Context(), "other", derivedID("other"), pngFile(t, 3)); err != nil {
		t.Fatal(err)
	}
	other := strings.Replace(harborYAML, "slug: harbor", "slug: other", 1)
	h.call(http.MethodPut, h.internal+"/internal/businesses/other", []byte(other+"\nlogo: "+shared.ID+"\n"))
	h.mustPublish(harborYAML + "\nlogo: " + shown.ID + "\n")
	h.mustPublish(harborYAML)
	now := h.clock.Now()
	h.sweep(now.Add(6 * 24 * time.Hour))
	if got := h.fileCount(); got != 24 {
		t.Errorf("after six days there are %d files", got)
	}
	h.sweep(now.Add(8 * 24 * time.Hour))
	list, err := h.owner.Pictures(t.Context(), "harbor", request.Page{})
	if err != nil || len(list.Pictures) != 1 || list.Pictures[0].ID != shown.ID {
		t.Errorf("after eight days: %+v, %v", list, err)
	}
	if a := h.call(http.MethodGet, h.public+unused.Path(400, "webp"), nil); a.status != http.StatusNotFound {
		t.Errorf("the unused picture: %d", a.status)
	}
	if a := h.call(http.MethodGet, h.public+shared.Path(400, "webp"), nil); a.status != http.StatusOK {
		t.Errorf("the picture of another business: %d", a.status)
	}
	if err := h.owner.Delete(t.Context(), "harbor", derivedID("harbor")); err != nil {
		t.Fatal(err)
	}
	h.sweep(now.Add(8 * 24 * time.Hour))
	if got := h.fileCount(); got != 8 {
		t.Errorf("after the removal of the business there are %d files", got)
	}
}

// TestSweepKeepsFilesOfRecentUploads shows that the sweep keeps the files
// of an upload in progress, which has written them before its row.
func TestSweepKeepsFilesOfRecentUploads(t *testing.T) {
	t.Parallel()
	h := startWithMedia(t)
	h.addPicture(1)
	h.execute(`DELETE FROM media`)
	h.sweep(h.clock.Now().Add(time.Minute))
	if h.fileCount() != 8 {
		t.Error("the files of a recent upload were deleted")
	}
	h.sweep(h.clock.Now().Add(2 * time.Hour))
	if h.fileCount() != 0 {
		t.Error("files without a picture are left")
	}
}

func TestConfigChecksMediaStore(t *testing.T) {
	t.Parallel()
	c := Config{MediaStore: "s3://key:hidden@host"}
	if err := c.Validate(); err == nil || !strings.Contains(err.Error(), "MEDIA_STORE: ") ||
		strings.Contains(err.Error(), "hidden") {
		t.Error(err)
	}
}
