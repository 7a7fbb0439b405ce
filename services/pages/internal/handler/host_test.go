package handler

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/services/pages/internal/usecase"
)

// The page of the host links to the demo business only if this business takes bookings, and to the owners' pages only
// if their URL is known.
func TestHostPageLinksToKnownPages(t *testing.T) {
	t.Parallel()
	open := &catalog.Snapshot{Slug: "theatre", Timezone: "Europe/Lisbon", DefaultLanguage: "en",
		Languages: []string{"en"}, Account: catalog.Account{SubscriptionActive: true}}
	notYetOpen := *open
	notYetOpen.NotYetOpen = true
	const demoLink, ownerLink, docsLink = `href="/b/theatre"`, `href="https://owner.example.com"`, `href="/api/public/docs"`
	for name, c := range map[string]struct {
		demo      *catalog.Snapshot
		slug, url string
		want      []string
	}{
		"nothing known":        {open, "", "", []string{docsLink}},
		"all known":            {open, "theatre", "https://owner.example.com", []string{demoLink, ownerLink, docsLink}},
		"demo is not yet open": {&notYetOpen, "theatre", "", []string{docsLink}},
	} {
		business := staleBusiness{cached: c.demo}
		pages, app := newTheatre(t, usecase.Snapshots(business), business, business)
		pages.demoSlug, pages.ownerURL = c.slug, c.url
		request := httptest.NewRequest(http.MethodGet, "/", nil)
		request.Header.Set("Accept-Language", "de")
		answer, err := app.Test(request, -1)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatal(answer.StatusCode, err)
		}
		html := string(body)
		for _, link := range []string{demoLink, ownerLink, docsLink} {
			isWanted := false
			for _, w := range c.want {
				isWanted = isWanted || w == link
			}
			if strings.Contains(html, link) != isWanted {
				t.Errorf("%s: link %s is shown: %v", name, link, !isWanted)
			}
		}
		if !strings.Contains(html, "<h1>Online buchen</h1>") || strings.Contains(html, "noindex") {
			t.Errorf("%s: %s", name, html)
		}
	}
}
