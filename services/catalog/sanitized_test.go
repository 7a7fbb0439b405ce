package catalog

import (
	"net/http"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

const describedYAML = harborHead + `
page: {about_html: <p onclick="x()">By the harbour</p>, translations: {pt: {about_html: <p style="x">Junto ao porto</p>}}}
locations:
  - {key: quay, kind: place, directions_html: <p onclick="x()">Second door</p>, translations: {pt: {directions_html: <p style="x">Segunda porta</p>}}}
services:
  - key: cut
    name: Cut
    duration_minutes: 30
    description_html: <p onclick="x()">Wash <script>evil()</script>and <b>cut</b></p>
    translations: {pt: {description_html: <p style="x">Lavar</p>}}
staff:
  - {key: anna, name: Anna, description_html: <i class="x">Anna</i>}
events:
  - {key: night, name: Night, date: 2026-12-01, start_time: "20:00", end_time: "22:00", total_capacity: 5, description_html: <em id="x">Night</em>, tiers: [{key: seat, name: Seat, price: 5, capacity: 5}]}
rentals:
  - {key: bike, name: Bike, price: 15, price_type: daily, description_html: <u id="x">Bike</u>}
`

// database runs one SQL statement on the tables of catalog and returns a text.
func (h *harness) database(statement string) string {
	h.t.Helper()
	conn, err := pgx.Connect(h.t.Context(), h.config.Postgres.URL)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = conn.Close(h.t.Context()) }()
	var text string
	if err := conn.QueryRow(h.t.Context(), strings.ReplaceAll(statement, "versions",
		pgx.Identifier{h.config.Postgres.Schema, "versions"}.Sanitize())).Scan(&text); err != nil {
		h.t.Fatal(err)
	}
	return text
}

// TestPublishSanitizesDescriptions shows that the descriptions in all languages are sanitized when they
// are published, before the first request.
func TestPublishSanitizesDescriptions(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(describedYAML)
	stored := h.database(`SELECT sanitized::text FROM versions`)
	for _, gone := range []string{"onclick", "evil", "style", "class", `id=`} {
		if strings.Contains(stored, gone) {
			t.Errorf("%s is stored: %s", gone, stored)
		}
	}
	for _, path := range []string{"/services", "/staff", "/events", "/rentals"} {
		if a := h.get(path); strings.Contains(a.body, "onclick") || strings.Contains(a.body, "=\\\"x\\\"") ||
			!strings.Contains(a.body, "description_html\":\"<") {
			t.Errorf("%s: %s", path, a.body)
		}
	}
	const about = `"about_html":"\u003cp\u003eBy the harbour\u003c/p\u003e","about_translations":{"pt":"\u003cp\u003eJunto ao porto\u003c/p\u003e"}`
	if a := h.call(http.MethodGet, h.internal+"/internal/offers/harbor", nil); !strings.Contains(a.body, about) {
		t.Errorf("peers read %s", a.body)
	}
	const directions = `"directions_html":{"text":"\u003cp\u003eSecond door\u003c/p\u003e","translations":{"pt":"\u003cp\u003eSegunda porta\u003c/p\u003e"}}`
	if a := h.call(http.MethodGet, h.internal+"/internal/offers/harbor", nil); !strings.Contains(a.body, directions) {
		t.Errorf("peers read %s", a.body)
	}
	if source := h.database(`SELECT canonical::text FROM versions`); !strings.Contains(source, "evil()") {
		t.Errorf("the owner's text has changed: %s", source)
	}
}

// TestStoredSanitizedTextIsServed shows that the stored text is shown without another sanitizing.
func TestStoredSanitizedTextIsServed(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(describedYAML)
	h.database(`UPDATE versions SET sanitized = replace(sanitized::text, 'Wash', 'Stored')::json RETURNING ''`)
	if a := h.get("/services"); !strings.Contains(a.body, "Stored") || strings.Contains(a.body, "Wash") {
		t.Error(a.body)
	}
}

// TestSanitizedTextOfOtherReleaseIsNotServed shows that the text of another release of the sanitizer is not shown. The
// text of the owner is sanitized again by the present release.
func TestSanitizedTextOfOtherReleaseIsNotServed(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(describedYAML)
	h.database(`UPDATE versions SET sanitizer = sanitizer - 1, sanitized = replace(sanitized::text, 'Wash', 'Stored')::json RETURNING ''`)
	if a := h.get("/services"); strings.Contains(a.body, "Stored") || strings.Contains(a.body, "onclick") ||
		!strings.Contains(a.body, "Wash") {
		t.Error(a.body)
	}
}

// TestCleanTextIsStoredOnce shows that a manifest is stored only once if sanitizing does not change it.
func TestCleanTextIsStoredOnce(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(harborYAML)
	if stored := h.database(`SELECT coalesce(sanitized::text, 'the canonical text') FROM versions`); stored != "the canonical text" {
		t.Error(stored)
	}
}

// TestRollbackCopiesSanitizedText shows that a rollback copies the sanitized text of the old version.
func TestRollbackCopiesSanitizedText(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(describedYAML)
	h.mustPublish(harborYAML)
	if _, err := h.owner.Rollback(t.Context(), "harbor", 1, ""); err != nil {
		t.Fatal(err)
	}
	same := h.database(`SELECT (count(DISTINCT (sanitizer, sanitized::text)) = 1)::text FROM versions WHERE version IN (1, 3)`)
	if same != "true" {
		t.Error("the sanitized text was not replaced")
	}
}
