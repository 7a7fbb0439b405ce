package e2e

import (
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/services/allinone"
)

// TestSecretsAreNotLoggedTracedOrSent checks that no log line and no span contains a secret, such as the token of a
// link. No page contains a key. The checks include failed requests.
func TestSecretsAreNotLoggedTracedOrSent(t *testing.T) {
	t.Parallel()
	home := ""
	received := &spans{}
	w := startPlatform(t, func(cfg *allinone.Config) { home = cfg.Home }, sendTraces(t, received))
	w.publish(t, "fair", buildFair("fair")+"self_service: {cancel_until_hours: 0, reschedule_until_hours: 0}\n")
	key := w.createKey(t, "fair", "all")
	var sent strings.Builder
	visit := func(address string, form url.Values, header ...string) pageAnswer {
		page := w.browse(t, address, form, header...)
		sent.WriteString(page.text)
		return page
	}
	at := w.buildDetailsAddress(t, "fair", "plain", "10:00")
	page := visit(at, nil)
	form := page.fillForm(t, contactForm)
	forged := page.fillForm(t, contactForm)
	forged.Set("token", "forged-0123456789."+form.Get("token"))
	visit(at, forged)
	visit(at, form, "Origin", "https://evil.example")
	link, _, _ := strings.Cut(visit(at, form).location, "?")
	token := strings.TrimPrefix(link, w.PublicURL+"/m/")
	if token == "" || token == link {
		t.Fatalf("booked at %q", link)
	}
	var made booking.Calendar
	w.callAdmin(t, http.MethodPost, "businesses/fair/calendars", []byte(`{"shows":"times"}`)).decode(t,
		http.StatusCreated,
		&made)
	calendar := strings.TrimSuffix(made.URL[strings.LastIndexByte(made.URL, '/')+1:], ".ics")
	const wrong = "AAAAAAAAAAAAAAAAAAAAAA"
	for _, address := range []string{link, link + "/calendar.ics", link + "/move", link + "/cancel", link + "/none",
		made.URL, made.URL + "/more", w.PublicURL + "/m/" + wrong, w.PublicURL + "/m/" + wrong + "/move",
		w.PublicURL + "/calendar/" + wrong + ".ics"} {
		visit(address, nil)
	}
	visit(link+"/move", url.Values{"to": {"date=2027-03-02&time=11:00"}})
	visit(link+"/pay", url.Values{})
	visit(link+"/cancel", url.Values{"refund": {"x"}})
	if err := w.StopService("rental"); err != nil {
		t.Fatal(err)
	}
	visit(w.PublicURL+"/m/"+wrong, nil) // booking does not know the token, and rental is stopped
	if err := w.StopService("booking"); err != nil {
		t.Fatal(err)
	}
	visit(link, nil).checkPage(t, "with booking away", http.StatusServiceUnavailable)
	visit(made.URL, nil)
	visit(at, page.fillForm(t, contactForm))
	w.stop(t) // sends buffered spans
	logged, err := os.ReadFile(filepath.Join(home, allinone.LogFile))
	if err != nil || len(logged) == 0 || received.text.Len() == 0 {
		t.Fatalf("%d bytes of log, %d of spans: %v", len(logged), received.text.Len(), err)
	}
	for name, secret := range map[string]string{
		"the link's token": token, "a token that leads nowhere": wrong, "the calendar's token": calendar,
		"the form's token": form.Get("token"),
		"the form's key":   strings.Split(form.Get("token"), ".")[1], "a forged token": "forged-0123456789",
		"an API key": key[3:], "the admin token": w.AdminToken, "the secret of pages": w.PeerSecrets["pages"],
		"what pages shows": peer.Credential(w.PeerSecrets["pages"], "booking"),
		"a name":           "Zoë", "an address": "zoe@example.com",
	} {
		if strings.Contains(string(logged), secret) {
			t.Errorf("%s is logged", name)
		}
		if strings.Contains(received.text.String(), secret) {
			t.Errorf("%s is in a span", name)
		}
	}
	for name, secret := range map[string]string{"an API key": key[3:], "the admin token": w.AdminToken,
		"the secret of pages": w.PeerSecrets["pages"], "what pages shows": peer.Credential(w.PeerSecrets["pages"],
			"booking")} {
		if strings.Contains(sent.String(), secret) {
			t.Errorf("a browser was sent %s", name)
		}
	}
}

// TestPagesNameCanonicalAddresses checks that public pages have one canonical address in each language, and that
// other pages have noindex.
func TestPagesNameCanonicalAddresses(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "search-engines", strings.Replace(buildFair("search-engines"), "languages: [en]",
		"languages: [en, ja]", 1))
	base := w.PublicURL + "/b/search-engines"
	link := func(rel, rest, at string) string { return `<link rel="` + rel + `"` + rest + ` href="` + at + `">` }
	w.browse(t, base, nil).checkPage(t, "first page", http.StatusOK, "<title>Fair · Services</title>",
		`<meta name="description" content="Book online at Fair: see free times and choose yours.">`,
		link("canonical", "", base), link("alternate", ` hreflang="x-default"`, base),
		link("alternate", ` hreflang="en"`, base+"?lang=en"),
		link("alternate", ` hreflang="ja"`, base+"?lang=ja"), `"@type":"LocalBusiness"`)
	w.browse(t, base+"?lang=ja", nil).checkPage(t, "in Japanese", http.StatusOK, `<html lang="ja"`,
		link("canonical", "", base+"?lang=ja"), link("alternate", ` hreflang="en"`, base+"?lang=en"))
	w.browse(t, base+"?lang=fr", nil).checkPage(t, "in a language that is not the business's", http.StatusOK,
		link("canonical", "", base))
	query := "?staff=any&service=" + w.idsByName(t, "search-engines", "services")["plain"]
	for name, address := range map[string]string{
		"when": base + "/when" + query, "details": w.buildDetailsAddress(t, "search-engines", "plain", "10:00"),
		"a link that leads nowhere": w.PublicURL + "/m/AAAAAAAAAAAAAAAAAAAAAA",
	} {
		page := w.browse(t, address, nil)
		if !strings.Contains(page.text, `<meta name="robots" content="noindex">`) || strings.Contains(page.text,
			`rel="canonical"`) || !strings.Contains(page.text, "<title>") {
			t.Errorf("%s: %d, search engines may show it", name, page.status)
		}
	}
}
