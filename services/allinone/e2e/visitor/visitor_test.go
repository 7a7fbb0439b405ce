package visitor

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
)

func TestMain(m *testing.M) { leaks.Verify(browserTests{m}) }

// browserTests are all tests of the package. After the tests, Run closes the browser.
type browserTests struct{ *testing.M }

func (m browserTests) Run() int {
	code := m.M.Run()
	if err := Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

const formPage = `<!doctype html><html lang=en><title>Form</title><meta name=viewport content="width=device-width"><link rel=icon href="data:,"><link rel=stylesheet href=/style.css><main><h1>Form</h1>
<form method=post action=/sent><label>Name <input name=name value=old></label><label>Size <select name=size><option value=s>Small<option value=l>Large</select></label>
<label><input type=checkbox name=agreed> I agree</label><button>Send it</button></form><script src=/script.js></script></main>`

// faultyPage is a page with one of each fault that Check looks for.
const faultyPage = `<!doctype html><html lang=en><title>Faulty</title><meta name=viewport content="width=device-width"><link rel=icon href="data:,"><script src=/long.js></script><link rel=stylesheet href=/long.css>
<main><h1>Faulty</h1><img src="http://localhost:%s/strange.png"><p id=moves>moves</p><div style="width: 2000px">wide</div><script>document.title = "inline"</script><script src=/shift.js></script></main>`

func startPages(t *testing.T) *httptest.Server {
	t.Helper()
	noise := func(n int) string { // returns n comments that gzip cannot compress
		var s strings.Builder
		for i := range n {
			fmt.Fprintf(&s, "/*%x*/", uint32(i*2654435761+i*i*40503))
		}
		return s.String()
	}
	mux := http.NewServeMux()
	serve := func(path, kind, body string) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			w.Header().Set("Content-Security-Policy", "script-src 'self'")
			_, _ = fmt.Fprint(w, body)
		})
	}
	const html, js, css = "text/html; charset=utf-8", "text/javascript", "text/css"
	server := httptest.NewUnstartedServer(mux)
	serve("/", html, formPage)
	serve("/faulty", html, strings.ReplaceAll(faultyPage, "%s", strings.Split(server.Listener.Addr().String(), ":")[1]))
	serve("/host", html,
		`<!doctype html><html lang=en><title>Host</title><main><h1>Host</h1><p style="height: 300px">above</p><iframe src="/" title="Form" width=350 height=300></iframe></main>`)
	serve("/leaving", html,
		`<!doctype html><html lang=en><title>Leaving</title><script src=/leaving.js></script><main>A page that is left once it is looked at</main>`)
	serve("/leaving.js", js, `Object.defineProperty(window, "axe", {configurable: true, set(rules) {
		Object.defineProperty(window, "axe", {value: rules}); location.assign("/")
	}})`)
	serve("/script.js", js, `document.querySelector("h1").append(" with script")`)
	serve("/style.css", css,
		"label, button { display: block; min-height: 30px; margin: 10px } .pair { display: flex; justify-content: center }")
	serve("/long.js", js, noise(9000))
	serve("/long.css", css, noise(6000))
	serve("/shift.js", js,
		`requestAnimationFrame(() => requestAnimationFrame(() => document.querySelector("#moves").before(Object.assign(document.createElement("p"), {style: "height: 200px"}))))`)
	serve("/painted.js", js,
		`(function look() { performance.getEntriesByType("paint").length ? fetch("/painted") : requestAnimationFrame(look) })()`)
	painted := make(chan struct{})
	mux.HandleFunc("/painted", func(http.ResponseWriter, *http.Request) { close(painted) })
	mux.HandleFunc("/pieces", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", html)
		_, _ = fmt.Fprint(w, `<!doctype html><html lang=en><title>Pieces</title><link rel=icon href="data:,"><script src=/painted.js></script><main><h1>Pieces</h1><p><b>Cut</b> `)
		_ = http.NewResponseController(w).Flush() // if it fails, the browser gets no page
		select {
		case <-painted:
		case <-r.Context().Done():
		}
		_, _ = fmt.Fprint(w, `<b>45 min</b></p></main>`)
	})
	mux.HandleFunc("/ours", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", html)
		var page bytes.Buffer
		if err := web.Layout(web.Frame{Words: &words.Words{Code: "en", Requested: "en"}, Title: "Ours",
			Style: "/style.css"}).Render(r.Context(), &page); err != nil {
			t.Error(err)
		}
		before, after, _ := strings.Cut(page.String(), "<body>")
		_, _ = fmt.Fprint(w, before, `<body><main><h1>Ours</h1><div class=pair><b>comes first</b>`)
		_ = http.NewResponseController(w).Flush() // if it fails, the browser gets no page
		select {
		case <-time.After(500 * time.Millisecond): // the browser paints in this time
		case <-r.Context().Done():
		}
		_, _ = fmt.Fprint(w, `<b>comes later</b></div></main>`, after)
	})
	mux.HandleFunc("/sent", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", html)
		_, _ = fmt.Fprintf(w, "<!doctype html><html lang=en><title>Sent</title><main><h1>Sent</h1>%s %s %s %s</main>",
			r.FormValue("name"), r.FormValue("size"), r.FormValue("agreed"), r.Header.Get("Accept-Language"))
	})
	server.Start()
	t.Cleanup(server.Close)
	return server
}

func TestVisitorActsAndFindsFaultsInABrowser(t *testing.T) {
	t.Parallel()
	server, chromium := startPages(t), Open(t)
	for name, profile := range map[string]Profile{"a phone": {}, "without JavaScript": {NoScript: true, Locale: "ja"},
		"zoomed": {Width: 1280, Zoom: 200, Dark: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := chromium.Visit(t, profile)
			v.Go(server.URL)
			v.Check()
			if scripted := strings.Contains(v.Text(), "with script"); scripted == profile.NoScript {
				t.Errorf("scripts ran: %v", scripted)
			}
			v.Fill("Name", "Zoë")
			v.Fill("Size", "Large")
			v.Press("I agree")
			v.Press("Send it")
			v.ExpectText("Zoë l on " + v.profile.Locale)
			v.Back()
			v.ExpectText("Send it")
			v.Tab("Send it")
			v.PressKeys(kb.Enter)
			v.ExpectText("Sent")
		})
	}
	t.Run("within a frame", func(t *testing.T) {
		t.Parallel()
		v := chromium.Visit(t, Profile{})
		v.Go(server.URL + "/host")
		v.InFrame(server.URL+"/", func() {
			v.Fill("Name", "inside")
			v.Press("Send it")
		})
		v.InFrame("/sent", func() { v.ExpectText("inside s") })
	})
	t.Run("a page that is left meanwhile", func(t *testing.T) {
		t.Parallel()
		v := chromium.Visit(t, Profile{})
		v.Go(server.URL + "/leaving")
		v.Check()
		if at := v.Address(); at != server.URL+"/" {
			t.Errorf("%s was looked at", at)
		}
	})
	t.Run("a page in pieces", func(t *testing.T) {
		t.Parallel()
		v := chromium.Visit(t, Profile{})
		v.Go(server.URL + "/pieces")
		v.ExpectText("45 min")
		v.await("the browser tells nothing of the space between two pieces", func() (bool, error) {
			moved, err := v.findMoves("true")
			return len(moved) > 0, err
		})
		v.Check()
	})
	t.Run("a page of ours in pieces", func(t *testing.T) {
		t.Parallel()
		v := chromium.Visit(t, Profile{})
		v.Go(server.URL + "/ours")
		v.ExpectText("comes first", "comes later")
		v.Check()
	})
	t.Run("faults", func(t *testing.T) {
		t.Parallel()
		v := chromium.Visit(t, Profile{})
		v.Go(server.URL + "/faulty")
		v.await("it has not moved", func() (bool, error) { moved, err := v.findShifts(); return len(moved) > 0, err })
		seen, err := v.findPageProblems()
		found := slices.Concat(seen, v.findForeignRequests(), v.listComplaints(), v.findOverweight())
		for _, want := range []string{"image-alt", "another host was asked for", "Content Security Policy",
			"bytes of script", "bytes of CSS", "shifted by", "px wider"} {
			if !strings.Contains(strings.Join(found, "\n"), want) {
				t.Errorf("%q was not found in %q, %v", want, found, err)
			}
		}
	})
}
