package e2e

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// startEmbeddingSites starts two other sites that embed the business's page. The first is in the business's
// embed_origins. The path of a page selects the mode.
func startEmbeddingSites(t *testing.T, base *string) (string, string) {
	t.Helper()
	site := func() string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			w.Header().Set("Content-Security-Policy", "script-src "+*base+" 'nonce-own'")
			_, _ = fmt.Fprintf(w, `<!doctype html><html lang=en><title>Host</title><link rel=icon href="data:,"><main><h1>Our own page</h1>
				<script nonce=own>window.heard = []; addEventListener("message", e => heard.push(e.data.type + " of " + e.origin))</script>
				<a href="/elsewhere" data-slotmesh-open>Come and see</a>
				<script src="%s/embed.js" data-slug=parlour data-mode=%q data-title="Book at the parlour" data-label="Book a cut" data-name="Ada Example"></script></main>`,
				*base, strings.TrimPrefix(r.URL.Path, "/"))
		}))
		t.Cleanup(s.Close)
		// The host name localhost makes this another site than the pages' site, not only another port.
		return strings.Replace(s.URL, "127.0.0.1", "localhost", 1)
	}
	return site(), site()
}

func (p *pages) embedPage(t *testing.T) {
	t.Parallel()
	for mode, press := range map[string]string{"inline": "", "popup": "Come and see", "button": "Book a cut"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			v := p.openVisitor(t, visitor.Profile{})
			v.Go(p.listedSite + "/" + mode)
			if press != "" {
				v.Press(press)
			}
			v.InFrame("/b/parlour", func() { v.ExpectText("Cut") })
			v.Await("the frame has the height of its page and a title",
				`(f => f.title === "Book at the parlour" && f.style.height !== "640px" && f.checkVisibility())(document.querySelector("iframe"))`)
			v.InFrame("/b/parlour", func() {
				v.Await("nothing in the frame has to be scrolled",
					"document.documentElement.scrollHeight <= innerHeight + 1")
			})
			v.Await("the page around hears of it", fmt.Sprintf("heard.includes(%q)", "slotmesh:height of "+p.PublicURL))
			v.SaveScreenshot("embed-" + mode)
		})
	}
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		v := p.openVisitor(t, visitor.Profile{})
		v.Go(p.unlistedSite + "/inline")
		v.ExpectText("Our own page")
		v.ExpectComplaint("frame-ancestors")
		if heard := visitor.Eval[[]string](v, "heard"); len(heard) > 0 {
			t.Errorf("a site that is not listed got the messages %v", heard)
		}
	})
}
