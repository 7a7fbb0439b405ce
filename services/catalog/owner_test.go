package catalog

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	peercatalog "github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

func TestOwnerPublishReadRollback(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	ctx := t.Context()
	first, err := h.owner.Publish(ctx, "harbor", []byte(harborYAML), peercatalog.MediaYAML, "")
	if err != nil {
		t.Fatal(err)
	}
	if want := (peercatalog.Published{ID: first.ID, Slug: "harbor", Version: 1, Created: true}); *first != want {
		t.Errorf("got %+v, want %+v", *first, want)
	}
	changed := strings.Replace(harborYAML, "name: Harbor", "name: New Harbor", 1)
	second, err := h.owner.Publish(ctx, "harbor", []byte(changed), "", `"1"`)
	if err != nil {
		t.Fatal(err)
	}
	if want := (peercatalog.Published{ID: first.ID, Slug: "harbor", Version: 2}); *second != want {
		t.Errorf("got %+v, want %+v", *second, want)
	}
	if _, err := h.owner.Publish(ctx, "harbor", []byte(harborYAML), "", `"1"`); !fault.Is(err,
		fault.PreconditionFailed) {
		t.Errorf("an old If-Match: %v", err)
	}
	third, err := h.owner.Rollback(ctx, "harbor", 1, "")
	if err != nil || third.Version != 3 || third.Created {
		t.Fatalf("rollback: %+v, %v", third, err)
	}
	for version, want := range map[int64]string{0: harborYAML, 1: harborYAML, 2: changed, 3: harborYAML} {
		got, err := h.owner.Get(ctx, "harbor", version, peercatalog.MediaYAML)
		if err != nil {
			t.Fatal(err)
		}
		if string(got.Text) != want || got.MediaType != peercatalog.MediaYAML {
			t.Errorf("version %d is %s\n%s", version, got.MediaType, got.Text)
		}
	}
	if newest, err := h.owner.Get(ctx, "harbor", 0, ""); err != nil || newest.ETag != `"3"` ||
		newest.MediaType != peercatalog.MediaJSON {
		t.Errorf("got %+v, %v", newest, err)
	}
	if a := h.get("/info"); a.json(t)["name"] != "Harbor" {
		t.Errorf("after the rollback: %s", a.body)
	}
}

func TestCompileDoesNotPublish(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(harborYAML)
	snapshot, err := h.owner.Compile(t.Context(), "harbor",
		[]byte(strings.Replace(harborYAML, "name: Harbor", "name: New Harbor", 1)))
	if err != nil || snapshot.Name != "New Harbor" {
		t.Errorf("got %+v, %v", snapshot, err)
	}
	if newest, err := h.owner.Get(t.Context(), "harbor", 0, ""); err != nil || newest.ETag != `"1"` {
		t.Errorf("a refused manifest was published: %+v, %v", newest, err)
	}
	if _, err := h.owner.Compile(t.Context(), "harbor", []byte("kind: Business")); !fault.Is(err,
		fault.InvalidParameter) || fault.Of(err).Extra["problems"] == nil {
		t.Errorf("compiling an invalid manifest: %v", err)
	}
	if _, err := h.owner.Compile(t.Context(), "elsewhere", []byte(harborYAML)); !fault.Is(err, fault.InvalidParameter) {
		t.Errorf("under another slug: %v", err)
	}
}

func TestPublishAcceptsEachFormat(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(harborYAML)
	want, problems := manifest.Parse([]byte(harborYAML))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	published := h.call(http.MethodGet, h.internal+"/internal/businesses/harbor", nil, "Accept",
		"application/json").body
	for i, source := range []string{harborYAML, published, "\n " + published} {
		version := h.mustPublish(source)
		for _, accept := range []string{"application/json", "application/yaml", "text/yaml", "*/*", ""} {
			a := h.call(http.MethodGet, h.internal+"/internal/businesses/harbor", nil, "Accept", accept)
			wantYAML := strings.HasSuffix(accept, "yaml")
			if isYAML := a.header.Get("Content-Type") == peercatalog.MediaYAML; isYAML != wantYAML ||
				a.header.Get("ETag") != fmt.Sprintf(`"%d"`, version) {
				t.Errorf("%q: headers %v", accept, a.header)
			}
			if sameFormat := wantYAML == (i == 0); sameFormat && a.body != source {
				t.Errorf("%q: not the text that was published: %s", accept, a.body)
			}
			got, problems := manifest.Parse([]byte(a.body))
			if len(problems) > 0 {
				t.Fatalf("%q: %v\n%s", accept, problems, a.body)
			}
			if diff := cmp.Diff(canonical(t, want), canonical(t, got)); diff != "" {
				t.Errorf("%q: %s", accept, diff)
			}
			if wantYAML && strings.Contains(a.body, `{"apiVersion"`) {
				t.Errorf("%q: JSON under another name: %s", accept, a.body)
			}
		}
	}
}

func canonical(t *testing.T, m *manifest.Manifest) string {
	t.Helper()
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestPublishReportsAllProblems(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(harborYAML)
	a := h.publish(harborHead +
		"services: [{key: a, name: A, duration_minutes: 0}, {key: a, nam: A, duration_minutes: 5}]\n")
	h.wantFault(a, http.StatusBadRequest, "invalid_parameter", "The manifest is not valid in ")
	problems := a.json(t)["problems"].([]any)
	if len(problems) < 3 {
		t.Errorf("%d problems: %s", len(problems), a.body)
	}
	for _, p := range problems {
		problem := p.(map[string]any)
		if problem["path"] == "" || problem["line"].(float64) < 1 || problem["message"] == "" {
			t.Errorf("problem %v", problem)
		}
	}
	for name, source := range map[string]string{
		"nothing": "", "broken JSON": `{"apiVersion": `, "broken YAML": "a: [", "NUL": harborYAML + "\x00",
		"no UTF-8":     harborYAML + "# \xff",
		"another slug": strings.Replace(harborYAML, "slug: harbor", "slug: quay", 1),
	} {
		a := h.publish(source)
		h.wantFault(a, http.StatusBadRequest, "invalid_parameter", "The manifest is not valid")
		if list, _ := a.json(t)["problems"].([]any); len(list) == 0 {
			t.Errorf("%s: no problems: %s", name, a.body)
		}
	}
	if a := h.get("/info"); a.status != http.StatusOK {
		t.Errorf("a refused publish left %d %s", a.status, a.body)
	}
	h.wantVersions(1)
}

func (h *harness) wantVersions(want ...int64) {
	h.t.Helper()
	list, err := h.owner.Versions(h.t.Context(), "harbor", request.Page{})
	if err != nil {
		h.t.Fatal(err)
	}
	var got []int64
	for _, v := range list.Versions {
		got = append(got, v.Version)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		h.t.Error(diff)
	}
}

func TestPublishRejectsChangedOrTakenID(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(harborYAML)
	moved := h.publish(strings.Replace(harborYAML, "slug: harbor",
		"id: 3f2c8a52-0c5e-4d5b-9a55-6f0f4a1f7d10\nslug: harbor", 1))
	h.wantFault(moved, http.StatusBadRequest, "invalid_parameter", "keeps its id")
	if problem := moved.json(t)["problems"].([]any)[0].(map[string]any); problem["path"] != "id" ||
		problem["line"].(float64) != 4 {
		t.Errorf("problem %v", problem)
	}
	harbor, _ := manifest.Parse([]byte(harborYAML))
	quay := strings.Replace(harborYAML, "slug: harbor", "id: "+harbor.BusinessID().String()+"\nslug: quay", 1)
	h.wantFault(h.call(http.MethodPut, h.internal+"/internal/businesses/quay", []byte(quay)), http.StatusBadRequest,
		"invalid_parameter", "another business")
	h.wantVersions(1)
}

func TestPublishRejectsTooLargeManifest(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for _, size := range []int{manifest.MaxBytes + 1, 17 << 20} {
		h.wantFault(h.publish(strings.Repeat("#", size)), http.StatusRequestEntityTooLarge, "payload_too_large",
			"too large")
	}
}

func TestOwnerFaultsNameInvalidFields(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(harborYAML)
	one := h.internal + "/internal/businesses/harbor"
	h.wantFault(h.publish(harborYAML, "If-None-Match", "*"), http.StatusPreconditionFailed, "precondition_failed",
		"If-Match")
	for _, match := range []string{"x", `"0"`, "-1", `W/"1"`, "*", `"1", "2"`} {
		h.wantFault(h.publish(harborYAML, "If-Match", match), http.StatusBadRequest, "invalid_parameter", "If-Match")
	}
	for _, body := range []string{"", "{", "[]", `{}`, `{"version": 0}`, `{"version": 1.5}`, `{"version": "1"}`,
		"\x00"} {
		h.wantFault(h.call(http.MethodPost, one+"/rollback", []byte(body)), http.StatusBadRequest, "invalid_parameter",
			"version")
	}
	for path, field := range map[string]string{
		one + "?version=x": "version", one + "?version=0": "version", one + "?version=99999999999999999999": "version",
		one + "/versions?limit=0": "limit", one + "/versions?limit=1001": "limit", one + "/versions?cursor=x": "cursor",
		h.internal + "/internal/businesses?limit=x": "limit", h.internal + "/internal/businesses?cursor=%00": "cursor",
	} {
		h.wantFault(h.call(http.MethodGet, path, nil), http.StatusBadRequest, "invalid_parameter", field)
	}
	h.wantFault(h.call(http.MethodGet, one+"?version=2", nil), http.StatusNotFound, "not_found", "version")
	h.wantFault(h.call(http.MethodPost, one+"/rollback", []byte(`{"version": 2}`)), http.StatusNotFound, "not_found",
		"version")
	for _, slug := range []string{"nobody", "%00", "%ff"} {
		other := h.internal + "/internal/businesses/" + slug
		h.wantFault(h.call(http.MethodGet, other, nil), http.StatusNotFound, "business_not_found", "Business not found")
		h.wantFault(h.call(http.MethodGet, other+"/versions", nil), http.StatusNotFound, "business_not_found",
			"Business not found")
		h.wantFault(h.call(http.MethodPost, other+"/rollback", []byte(`{"version": 1}`)), http.StatusNotFound,
			"business_not_found", "Business not found")
		h.wantFault(h.call(http.MethodDelete, other, nil), http.StatusNotFound, "business_not_found",
			"Business not found")
	}
}

func TestRemovedBusinessIsNotFound(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(harborYAML)
	h.get("/info")
	if err := h.owner.Delete(t.Context(), "harbor", derivedID("harbor")); err != nil {
		t.Fatal(err)
	}
	h.wantFault(h.get("/info"), http.StatusNotFound, "business_not_found", "Business not found")
	h.wantFault(h.call(http.MethodGet, h.internal+"/internal/offers/harbor", nil), http.StatusNotFound,
		"business_not_found", "Business not found")
	if err := h.owner.Delete(t.Context(), "harbor", derivedID("harbor")); !fault.Is(err, fault.BusinessNotFound) {
		t.Errorf("removed twice: %v", err)
	}
	if a := h.publish(harborYAML); a.status != http.StatusCreated || a.json(t)["version"] != 2.0 {
		t.Errorf("published again: %d %s", a.status, a.body)
	}
}

func TestListsHavePages(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	for _, slug := range []string{"quay", "bay", "harbor"} {
		source := strings.ReplaceAll(harborYAML, "slug: harbor", "slug: "+slug)
		if _, err := h.owner.Publish(t.Context(), slug, []byte(source), "", ""); err != nil {
			t.Fatal(err)
		}
	}
	h.mustPublish(harborYAML)
	h.mustPublish(harborYAML)
	var slugs []string
	for page := (request.Page{Limit: 2}); ; {
		list, err := h.owner.List(t.Context(), nil, page)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range list.Businesses {
			slugs = append(slugs, fmt.Sprintf("%s %d %s %t", b.Slug, b.Version, b.Name,
				b.UpdatedAt.Equal(h.clock.Now())))
		}
		if page.Cursor = list.NextCursor; page.Cursor == "" {
			break
		}
	}
	if diff := cmp.Diff([]string{"bay 1 Harbor true", "harbor 3 Harbor true", "quay 1 Harbor true"},
		slugs); diff != "" {
		t.Error(diff)
	}
	first, err := h.owner.Versions(t.Context(), "harbor", request.Page{Limit: 2})
	if err != nil || len(first.Versions) != 2 || first.Versions[0].Version != 3 || first.NextCursor == "" {
		t.Fatalf("got %+v, %v", first, err)
	}
	rest, err := h.owner.Versions(t.Context(), "harbor", request.Page{Limit: 2, Cursor: first.NextCursor})
	if err != nil || len(rest.Versions) != 1 || rest.Versions[0].Version != 1 || rest.NextCursor != "" {
		t.Errorf("got %+v, %v", rest, err)
	}
}

func TestSnapshotsHaveEntityTagsAndAreFresh(t *testing.T) {
	t.Parallel()
	h := newHarness(t, disableRedis)
	// The clock does not advance and no message comes, so a replica that used its cache would return an old version.
	_, other := h.run()
	url := other + "/internal/offers/harbor"
	var tag string
	for i := range 5 {
		h.mustPublish(strings.Replace(harborYAML, "name: Harbor", fmt.Sprintf("name: Harbor %d", i), 1))
		a := h.call(http.MethodGet, url, nil, "If-None-Match", tag)
		var snapshot peercatalog.Snapshot
		if err := json.Unmarshal([]byte(a.body), &snapshot); err != nil {
			t.Fatalf("%d %v", a.status, err)
		}
		if snapshot.Name != fmt.Sprintf("Harbor %d", i) || snapshot.Version != int64(i+1) ||
			a.header.Get("ETag") == tag {
			t.Errorf("publish %d shows %s in version %d", i, snapshot.Name, snapshot.Version)
		}
		tag = a.header.Get("ETag")
	}
	if a := h.call(http.MethodGet, url, nil, "If-None-Match", tag); a.status != http.StatusNotModified || a.body != "" {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestChangesAreSentToRedis(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	rdb, _ := testkit.Redis(t)
	slug := "bay-" + testkit.Unique() // the tests share the channel
	source := strings.Replace(harborYAML, "slug: harbor", "slug: "+slug, 1)
	ctx, cancel := context.WithTimeout(t.Context(), testkit.MaxWait)
	defer cancel()
	subscription := rdb.Subscribe(ctx, peercatalog.ChangesChannel)
	t.Cleanup(func() { _ = subscription.Close() })
	if _, err := subscription.Receive(ctx); err != nil {
		t.Fatal(err)
	}
	for _, change := range []func() error{
		func() error { _, err := h.owner.Publish(t.Context(), slug, []byte(source), "", ""); return err },
		func() error { _, err := h.owner.Rollback(t.Context(), slug, 1, ""); return err },
		func() error { return h.owner.Delete(t.Context(), slug, derivedID(slug)) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
	}
	for seen := 0; seen < 3; {
		message, err := subscription.ReceiveMessage(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if message.Payload == slug {
			seen++
		}
	}
}

// largeManifest returns a manifest of 2,000 services and 500 staff members, whose descriptions repeat a sentence. With
// 60 sentences each it has about 5 MB.
func largeManifest(sentences int) []byte {
	words := strings.Repeat("All about <b>this</b> &amp; that. ", sentences)
	var b bytes.Buffer
	b.WriteString(harborHead + "staff:\n")
	for i := range 500 {
		fmt.Fprintf(&b, "  - {key: m%d, name: Member %d, order: %d, description_html: \"<p>%s</p>\"}\n", i, i, i, words)
	}
	b.WriteString("services:\n")
	for i := range 2000 {
		fmt.Fprintf(&b,
			"  - key: s%d\n    name: Service %d\n    description_html: \"<p>%s</p>\"\n    duration_minutes: 45\n    price: %d.50\n"+
				"    order: %d\n    staff: [m%d, m%d, m%d]\n    translations: {pt: {name: Serviço %d}}\n",
			i, i, words, i%90+10, i, i%500, (i+1)%500, (i+2)%500, i)
	}
	return b.Bytes()
}

func TestPublishAcceptsLargeManifest(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(string(largeManifest(1)))
	if n := len(h.get("/services?locale=pt").json(t)["services"].([]any)); n != 2000 {
		t.Errorf("%d services", n)
	}
	if n := len(h.get("/staff").json(t)["staff"].([]any)); n != 500 {
		t.Errorf("%d staff", n)
	}
}

func TestRepeatedChangesReturnFirstResult(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	named := func(key string) context.Context {
		return idempotency.With(t.Context(), idempotency.Request{Key: key})
	}
	for range 2 {
		got, err := h.owner.Publish(named("a"), "harbor", []byte(harborYAML), "", "")
		if err != nil || got.Version != 1 || !got.Created {
			t.Fatalf("publish: %+v, %v", got, err)
		}
	}
	changed := strings.Replace(harborYAML, "name: Harbor", "name: New Harbor", 1)
	if _, err := h.owner.Publish(named("a"), "harbor", []byte(changed), "", ""); !fault.Is(err,
		fault.IdempotencyMismatch) {
		t.Errorf("another manifest under the key: %v", err)
	}
	for range 2 { // the If-Match of the repeated request is outdated
		if got, err := h.owner.Publish(named("b"), "harbor", []byte(changed), "", `"1"`); err != nil ||
			got.Version != 2 {
			t.Errorf("publish again: %+v, %v", got, err)
		}
	}
	for range 2 {
		if got, err := h.owner.Rollback(named("c"), "harbor", 1, ""); err != nil || got.Version != 3 {
			t.Errorf("rollback: %+v, %v", got, err)
		}
	}
	for range 2 {
		if err := h.owner.Delete(named("d"), "harbor", derivedID("harbor")); err != nil {
			t.Errorf("remove: %v", err)
		}
	}
	if got, err := h.owner.Rollback(named("c"), "harbor", 1, ""); err != nil || got.Version != 3 {
		t.Errorf("rollback, repeated after the removal: %+v, %v", got, err)
	}
	if err := h.owner.Delete(named("e"), "harbor", derivedID("harbor")); !fault.Is(err, fault.BusinessNotFound) {
		t.Errorf("deleting a removed business with a new key: %v", err)
	}
}
