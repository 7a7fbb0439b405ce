package catalog

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	peercatalog "github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

// picture returns the id of a picture for tests that ends with a digit.
func picture(digit string) string { return strings.Repeat("a", 63) + digit }

var picturedYAML = strings.NewReplacer("PIC", strings.Repeat("a", 63)).Replace(harborHead + `
logo_url: https://harbor.example/logo.png
logo: PIC1
page: {cover: PIC2, gallery: [PIC1, PIC2]}
staff: [{key: anna, name: Anna, photo: PIC1}, {key: ben, name: Ben, image_url: "https://harbor.example/ben.png"}]
services: [{key: cut, name: Cut, duration_minutes: 30, picture: PIC2, image_url: "https://harbor.example/cut.png"}]
events: [{key: gala, name: Gala, date: 2026-12-01, start_time: "20:00", end_time: "22:00", total_capacity: 5, picture: PIC1}]
rentals: [{key: bike, name: Bike, price_type: daily, picture: PIC1}]
`)

// execute runs SQL statements on the tables of catalog.
func (h *harness) execute(statements string) {
	h.t.Helper()
	conn, err := pgx.Connect(h.t.Context(), h.config.Postgres.URL)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = conn.Close(h.t.Context()) }()
	path := "SET search_path TO " + pgx.Identifier{h.config.Postgres.Schema}.Sanitize() + ";"
	if _, err := conn.Exec(h.t.Context(), path+statements); err != nil {
		h.t.Fatal(err)
	}
}

// addPictures gives the business harbor the pictures 1 and 2.
func (h *harness) addPictures() {
	h.t.Helper()
	h.execute(`
INSERT INTO media_files SELECT repeat('a', 63) || n, '2026-11-21' FROM generate_series(1, 2) n;
INSERT INTO media SELECT '` + derivedID("harbor").String() + `', repeat('a', 63) || n, 'image/png', 1000, 1000 * n, 500, '#00000' || n,
    '2026-11-21' FROM generate_series(1, 2) n`)
}

func TestPublishRefusesUnknownPictures(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(harborYAML)
	h.call(http.MethodPut, h.internal+"/internal/businesses/other",
		[]byte(strings.Replace(harborYAML, "slug: harbor", "slug: other", 1)))
	a := h.publish(picturedYAML)
	h.wantFault(a, http.StatusBadRequest, "invalid_parameter", "The manifest is not valid in 8 places")
	var refused struct {
		Problems []struct {
			Path, Message string
			Line          int
		}
	}
	if err := json.Unmarshal([]byte(a.body), &refused); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(picturedYAML, "\n")
	for _, p := range refused.Problems {
		if p.Line < 1 || !strings.Contains(lines[p.Line-1], "aaa") || !strings.Contains(p.Message, "has no picture") {
			t.Errorf("%+v", p)
		}
	}
	if a := h.call(http.MethodPost, h.internal+"/internal/businesses/harbor/offer",
		[]byte(picturedYAML)); a.status != 400 {
		t.Errorf("a preview: %d %s", a.status, a.body)
	}
	h.addPictures()
	h.mustPublish(picturedYAML)
	other := strings.Replace(picturedYAML, "slug: harbor", "slug: other", 1)
	a = h.call(http.MethodPut, h.internal+"/internal/businesses/other", []byte(other))
	h.wantFault(a, http.StatusBadRequest, "invalid_parameter", "has no picture")
}

func TestSnapshotHasPictures(t *testing.T) {
	t.Parallel()
	h := newHarness(t, func(c *Config) { c.PagesURL = "https://book.example.com/" })
	h.mustPublish(harborYAML)
	h.addPictures()
	h.mustPublish(picturedYAML)
	one := peercatalog.Picture{ID: picture("1"), Width: 1000, Height: 500, Colour: "#000001"}
	two := peercatalog.Picture{ID: picture("2"), Width: 2000, Height: 500, Colour: "#000002"}
	var snapshot peercatalog.Snapshot
	a := h.call(http.MethodGet, h.internal+"/internal/offers/harbor", nil)
	if err := json.Unmarshal([]byte(a.body), &snapshot); err != nil {
		t.Fatal(err)
	}
	got := []any{snapshot.Logo, snapshot.Page.Cover, snapshot.Page.Gallery, snapshot.Staff[0].Photo,
		snapshot.Staff[1].Photo,
		snapshot.Services[0].Picture, snapshot.Events[0].Picture, snapshot.Rentals[0].Picture}
	want := []any{&one, &two, []peercatalog.Picture{one, two}, &one, (*peercatalog.Picture)(nil), &two, &one, &one}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for path, part := range map[string]string{
		"/info":     `"logo_url":"https://book.example.com/media/` + picture("1") + `-800.webp"`,
		"/staff":    `"image_url":"https://book.example.com/media/` + picture("1") + `-800.webp"`,
		"/services": `"image_url":"https://book.example.com/media/` + picture("2") + `-800.webp"`,
		"/events":   `"image_url":"https://book.example.com/media/` + picture("1") + `-800.webp"`,
		"/rentals":  `"image_url":"https://book.example.com/media/` + picture("1") + `-800.webp"`,
	} {
		if a := h.get(path); !strings.Contains(a.body, part) {
			t.Errorf("%s lacks %s: %s", path, part, a.body)
		}
	}
	if a := h.get("/staff"); !strings.Contains(a.body, `"image_url":"https://harbor.example/ben.png"`) {
		t.Errorf("the address of Ben's picture: %s", a.body)
	}
	stored := h.call(http.MethodGet, h.internal+"/internal/businesses/harbor", nil, "Accept", "application/json")
	if strings.Contains(stored.body, "_pictures") {
		t.Errorf("the manifest shows what catalog stores: %s", stored.body)
	}
}

// TestPicturesAreInCopies shows that a replica that reads the copy in Redis has the pictures, too.
func TestPicturesAreInCopies(t *testing.T) {
	t.Parallel()
	h, hanging := newHangingHarness(t)
	h.mustPublish(harborYAML)
	h.addPictures()
	h.mustPublish(picturedYAML)
	h.get("/info")
	h.waitForCopy("2", time.Hour)
	public, _ := h.restart(hanging)
	a := h.call(http.MethodGet, public+"/api/public/harbor/info", nil)
	if a.status != http.StatusOK || !strings.Contains(a.body, picture("1")+"-800.webp") {
		t.Errorf("%d %s", a.status, a.body)
	}
	hanging.Resume()
}

func TestRollbackRefusesRemovedPictures(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(harborYAML)
	h.addPictures()
	h.mustPublish(picturedYAML)
	h.mustPublish(harborYAML)
	if _, err := h.owner.Rollback(t.Context(), "harbor", 2, ""); err != nil {
		t.Fatal(err)
	}
	h.mustPublish(harborYAML)
	h.execute(`DELETE FROM media WHERE sha256 LIKE '%1'`)
	a := h.call(http.MethodPost, h.internal+"/internal/businesses/harbor/rollback", []byte(`{"version": 2}`))
	h.wantFault(a, http.StatusConflict, "conflict", "The manifest shows a picture that was removed")
	h.wantFault(h.publish(picturedYAML), http.StatusBadRequest, "invalid_parameter", "has no picture")
	if err := h.owner.Delete(t.Context(), "harbor", derivedID("harbor")); err != nil {
		t.Fatal(err)
	}
	if left := h.database(`SELECT count(*)::text FROM ` + pgx.Identifier{h.config.Postgres.Schema,
		"media"}.Sanitize()); left != "0" {
		t.Errorf("%s pictures of a removed business are left", left)
	}
}
