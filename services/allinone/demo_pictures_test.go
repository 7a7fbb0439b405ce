package allinone

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/allinone/test/deadlines"
)

// maxDemoPictures is the maximum size of all pictures of the demo business, in bytes.
const maxDemoPictures = 250_000

func TestDemoManifestShowsEachPicture(t *testing.T) {
	t.Parallel()
	ids, size := map[string]string{}, 0
	for i, picture := range demoPictures {
		file, err := demoFiles.ReadFile("demo/" + picture.name + ".png")
		if err != nil {
			t.Fatal(err)
		}
		size += len(file)
		ids[picture.name] = strings.Repeat("abcdef0123456789"[i:i+1], 64)
	}
	text, err := insertPictures(demoManifest, ids)
	if err != nil {
		t.Fatal(err)
	}
	m, problems := manifest.Parse(text)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	shown := map[string]bool{}
	for _, use := range m.PictureUses() {
		shown[string(use.ID)] = true
	}
	for name, id := range ids {
		if !shown[id] {
			t.Errorf("the manifest does not show %s", name)
		}
	}
	if size > maxDemoPictures {
		t.Errorf("the pictures have %d bytes", size)
	}
	if _, err := insertPictures(text, ids); err == nil {
		t.Error("a manifest with other lines was accepted")
	}
}

// TestDemoPageShowsPictures starts a Slotmesh without settings for pictures. The demo's page then shows pictures that
// its host serves, and none of another host.
func TestDemoPageShowsPictures(t *testing.T) {
	t.Parallel()
	p, err := Start(t.Context(), Config{Home: t.TempDir(), DatabaseURL: testkit.Database(t, "allinone"),
		RedisURL: testkit.RedisDatabase(t), WithDemo: true, Settings: deadlines.Roomy}, func(line string) { t.Log(line) })
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	}()
	status, page, err := sendRequest(t.Context(), http.MethodGet, p.PublicURL+"/b/"+demoSlug,
		http.Header{"Accept": {"text/html"}}, nil)
	if err != nil || status != http.StatusOK {
		t.Fatal(status, err)
	}
	names := map[string]bool{}
	for _, name := range regexp.MustCompile(`/media/([0-9a-f]{64}-[0-9]+\.webp)`).FindAllStringSubmatch(string(page), -1) {
		names[name[1]] = true
	}
	if len(names) < len(catalog.PictureWidths) || strings.Contains(string(page), "harbor.example/logo.png") ||
		strings.Contains(string(page), "harbor.example/cut.png") {
		t.Errorf("the page shows %v", names)
	}
	for name := range names {
		if status, _, err := sendRequest(t.Context(), http.MethodGet, p.PublicURL+"/media/"+name, nil, nil); err != nil ||
			status != http.StatusOK {
			t.Errorf("%s: %d %v", name, status, err)
		}
	}
}
