package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/allinone/e2e/visitor"
)

// TestOwnersConnectProgramsInABrowser creates, uses and revokes an API key, tests a webhook, and opens a calendar feed.
// It also reads the code for embedding and the address for agents.
func TestOwnersConnectProgramsInABrowser(t *testing.T) {
	t.Parallel()
	chromium := visitor.Open(t)
	p := &pages{platform: sharePlatform(t), chromium: chromium}
	for name, profile := range ownerVisitors {
		t.Run("every page "+name, func(t *testing.T) {
			t.Parallel()
			p.openBusiness(t, "settings-"+name).checkSettings(t, name, profile)
		})
	}
	t.Run("manager", func(t *testing.T) {
		t.Parallel()
		p.openBusiness(t, "settings-manager").checkForbidden(t, "manager", "/settings/keys")
	})
	for name, do := range map[string]func(*ownerSite, *testing.T){
		"keys": (*ownerSite).manageKey, "hooks": (*ownerSite).manageWebhook, "feeds": (*ownerSite).manageCalendarFeed,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			do(p.openBusiness(t, "with-"+name), t)
		})
	}
}

// checkSettings checks each page below Settings.
func (o *ownerSite) checkSettings(t *testing.T, name string, profile visitor.Profile) {
	url, _ := startReceiver(t)
	o.callAdmin(t, http.MethodPost, "businesses/"+o.slug+"/webhooks",
		encodeJSON(t, map[string]any{"url": url, "events": []string{"*"}})).checkStatus(t, http.StatusCreated, "")
	o.platform.createKey(t, o.slug, "read")
	v := o.signIn(t, "owner", profile)
	for page, selector := range map[string]string{
		"": ".cards", "/keys": ".rows", "/webhooks": ".rows", "/feeds": ".empty",
		"/embed": ".preview", "/embed?mode=popup": ".as-popup", "/embed?mode=button&color=%230b6e4f": ".press",
		"/agents": ".client",
	} {
		v.Go(o.buildAddress("/settings" + page))
		v.ExpectElement(selector)
		v.AwaitLoad()
		v.Check()
		v.SaveScreenshot("settings-" + name + strings.NewReplacer("/", "-", "?", "-", "%", "").Replace(page))
	}
}

// checkForbidden checks that a role is refused a page below Settings and sees no link to it.
func (o *ownerSite) checkForbidden(t *testing.T, role, path string) {
	t.Helper()
	v := o.signIn(t, role, visitor.Profile{Locale: "en-GB", Width: 1280})
	v.Go(o.buildAddress("/settings"))
	v.ExpectElement("main h1")
	if shown := visitor.Eval[int](v, `document.querySelectorAll('a[href$="`+path+`"]').length`); shown > 0 {
		t.Errorf("a %s is shown %d ways to %s", role, shown, path)
	}
	v.Go(o.buildAddress(path))
	v.ExpectText("You don’t have access to this page")
}

// getInfo requests the business's information over MCP, with an API key.
func (o *ownerSite) getInfo(t *testing.T, key string) reply {
	t.Helper()
	return o.do(t, http.MethodPost, o.PublicURL+"/mcp",
		[]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_business_info","arguments":{}}}`),
		http.Header{
			"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"},
			"Accept": {"application/json, text/event-stream"}, "X-Forwarded-For": {newAddress()},
		})
}

// manageKey creates a key, lets a program use it, and revokes it.
func (o *ownerSite) manageKey(t *testing.T) {
	v := o.signIn(t, "owner", visitor.Profile{Locale: "en-GB", Width: 1280})
	v.Go(o.buildAddress("/settings"))
	v.Press("API keys")
	v.Fill("Label", "Website robot")
	v.Fill("Expires after", "90 days")
	v.PressTwice("Create key")
	v.ExpectText("Your new key Website robot", "Copy it now", "never used", "until 30 May 2027")
	v.Check()
	key := visitor.Eval[string](v, `document.querySelector("#secret").textContent`)
	if a := o.getInfo(t, key); a.status != http.StatusOK || !strings.Contains(string(a.body), "Harbour Hair") {
		t.Fatalf("the key does not open: %d %s", a.status, a.body)
	}
	cut := o.idsByName(t, o.slug, "services")["Cut"]
	o.book(t, o.slug, key, newOrder(cut, "2027-03-03", "09:00")).checkStatus(t, http.StatusCreated, "")
	v.Go(o.buildAddress("/settings/keys"))
	v.ExpectText("last used 1 Mar 2027")
	v.ExpectNoText(key)
	if n := visitor.Eval[int](v,
		`[...document.querySelectorAll(".row")].filter(r => r.innerText.includes("Website robot")).length`); n != 1 {
		t.Errorf("%d keys were made by pressing twice", n)
	}
	v.Press("Revoke Website robot")
	v.ExpectText("Programs with this key lose access")
	v.Check()
	v.PressElement(".ask[open] button")
	v.ExpectText("The key is revoked", "Revoked")
	o.book(t, o.slug, key, newOrder(cut, "2027-03-03", "11:00")).checkStatus(t, http.StatusUnauthorized,
		"invalid_api_key")
	if a := o.getInfo(t, key); a.status != http.StatusUnauthorized {
		t.Errorf("a revoked key opens: %d %s", a.status, a.body)
	}
	v.Go(o.buildAddress("/settings/agents"))
	v.ExpectText(o.PublicURL + "/mcp")
	v.Go(o.buildAddress("/settings/embed"))
	v.Fill("How it is shown", "Button in the corner")
	v.Fill("Button text", `Book "us" <now>`)
	v.Press("Show")
	v.ExpectText(`data-slug="with-keys" data-mode="button" data-label="Book &#34;us&#34; &lt;now&gt;"`,
		o.PublicURL+"/b/with-keys")
}

// manageWebhook adds a webhook, reads its deliveries, and removes it.
func (o *ownerSite) manageWebhook(t *testing.T) {
	url, deliveries := startReceiver(t)
	v := o.signIn(t, "owner", visitor.Profile{Locale: "en-GB", Width: 1280})
	v.Go(o.buildAddress("/settings/webhooks"))
	v.Fill("Address of your server", "https://10.0.0.1/hooks")
	v.Press("Add a webhook")
	v.ExpectText("Enter a public address")
	v.Check()
	v.Fill("Address of your server", url)
	v.Press("Only these:")
	v.Press("booking.confirmed")
	v.Press("Add a webhook")
	v.ExpectText("Copy its secret below", "One kind of event", "Nothing sent yet")
	v.Check()
	first := visitor.Eval[string](v, `document.querySelector("#secret").textContent`)
	v.Press("Send a test")
	v.ExpectText("A test is on its way")
	if event := nextDelivery(t, deliveries).decodeEvent(t); event.Type != "webhook.test" {
		t.Errorf("the test is %+v", event)
	}
	v.ExpectNoText(first)
	at := strings.Split(v.Address(), "?")[0]
	v.Await("the answer is listed",
		`(async () => { const page = await (await fetch(location.pathname)).text(); return page.includes("Response 200"); })()`)
	v.Go(at + "?status=delivered")
	v.PressElement(".delivery summary")
	v.ExpectText("Response 200", "Message ID")
	v.Check()
	v.SaveScreenshot("settings-delivery")
	v.Press("Send again")
	v.ExpectText("Sending again")
	nextDelivery(t, deliveries)
	v.Press("New secret")
	v.PressElement(".ask[open] button")
	v.ExpectText("New secret created")
	if second := visitor.Eval[string](v, `document.querySelector("#secret").textContent`); second == first ||
		!strings.HasPrefix(second, "whsec_") {
		t.Errorf("the new secret is %q", second)
	}
	v.Press("Pause")
	v.ExpectText("Paused. Events during the pause")
	v.Press("Resume")
	v.ExpectText("Webhook is on again")
	v.Press("Change address or events")
	v.Press("All events (including future ones)")
	v.Press("Save")
	v.ExpectText("Saved.", "All events")
	v.Press("Remove")
	v.PressElement(".ask[open] button")
	v.ExpectText("The webhook is removed", "No webhook yet")
}

// manageCalendarFeed creates a feed of one member, reads it as a calendar does, and removes it.
func (o *ownerSite) manageCalendarFeed(t *testing.T) {
	v := o.signIn(t, "owner", visitor.Profile{Locale: "en-GB"})
	v.Go(o.buildAddress("/settings/feeds"))
	v.Fill("Whose bookings", "Inês")
	v.Press("Services and customers' names")
	v.Press("Create feed")
	v.ExpectText("Calendar feed: Inês", "Add this address")
	v.Check()
	feed := visitor.Eval[string](v, `document.querySelector("#secret").textContent`)
	read := func() reply {
		return o.do(t, http.MethodGet, feed, nil, http.Header{"X-Forwarded-For": {newAddress()}})
	}
	if a := read(); a.status != http.StatusOK || !strings.Contains(string(a.body), "Ada Example") {
		t.Errorf("the feed: %d %s", a.status, a.body)
	}
	v.Go(o.buildAddress("/settings/feeds"))
	v.ExpectNoText(feed)
	v.Press("Remove Inês")
	v.PressElement(".ask[open] button")
	v.ExpectText("The feed is removed", "Removed")
	if a := read(); a.status != http.StatusNotFound {
		t.Errorf("a removed feed: %d", a.status)
	}
}
