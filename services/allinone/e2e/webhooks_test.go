package e2e

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/allinone"
)

// webhooksPackage is the npm package of Standard Webhooks that verifies signatures.
const webhooksPackage = "standardwebhooks@1.0.0"

// verifyScript verifies deliveries with the package, as a receiver does. It sets the clock to the time of the message,
// because the test's services have another clock than the machine.
const verifyScript = `
const { Webhook } = require("standardwebhooks");
const sent = JSON.parse(require("fs").readFileSync(0, "utf8"));
for (const m of sent) {
  Date.now = () => Number(m.headers["webhook-timestamp"]) * 1000;
  const body = Buffer.from(m.body, "base64").toString("utf8");
  const told = new Webhook(m.secret).verify(body, m.headers);
  let refused = false;
  try { new Webhook(m.secret).verify(body + " ", m.headers); } catch { refused = true; }
  if (!refused) throw new Error("a changed body is taken");
  console.log(told.type + " " + told.data.status + " " + told.data.sequence);
}`

// delivery is a webhook request that a receiver got.
type delivery struct {
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"` // base64
	Secret  string            `json:"secret"`
}

// startReceiver starts a server for webhooks. It returns the server's URL and a channel of the deliveries.
func startReceiver(t *testing.T) (string, <-chan delivery) {
	t.Helper()
	all := make(chan delivery, 1000)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		headers := map[string]string{}
		for _, name := range []string{"webhook-id", "webhook-timestamp", "webhook-signature"} {
			headers[name] = r.Header.Get(name)
		}
		all <- delivery{Headers: headers, Body: base64.StdEncoding.EncodeToString(body)}
	}))
	t.Cleanup(server.Close)
	return server.URL, all
}

func nextDelivery(t *testing.T, deliveries <-chan delivery) delivery {
	t.Helper()
	select {
	case d := <-deliveries:
		return d
	case <-time.After(testkit.MaxWait):
		t.Fatal("nothing arrives")
		return delivery{}
	}
}

// webhookEvent is the body of a webhook about a booking.
type webhookEvent struct {
	Type string
	Data struct {
		ID       string
		Status   string
		Sequence int
	}
}

func (d delivery) decodeEvent(t *testing.T) webhookEvent {
	t.Helper()
	var event webhookEvent
	body, err := base64.StdEncoding.DecodeString(d.Body)
	if err == nil {
		err = json.Unmarshal(body, &event)
	}
	if err != nil {
		t.Fatal(err)
	}
	return event
}

// allowLoopback configures a Slotmesh so that it may send webhooks to this machine.
func allowLoopback(cfg *allinone.Config) {
	settings := map[string]string{"WEBHOOK_LOOPBACK": "true"}
	for name, value := range cfg.Settings {
		settings[name] = value
	}
	cfg.Settings = settings
}

// TestWebhookDeliversSignedBookingEvents creates, confirms and cancels a booking. The business's server gets a webhook
// about each event, and the package of Standard Webhooks accepts its signature.
func TestWebhookDeliversSignedBookingEvents(t *testing.T) {
	t.Parallel()
	programs := testkit.InstallNode(t, webhooksPackage)
	w := sharePlatform(t)
	w.publish(t, "hooked", buildSalon("hooked", 1))
	url, deliveries := startReceiver(t)
	var hook struct{ ID, Secret string }
	w.callAdmin(t, http.MethodPost, "businesses/hooked/webhooks",
		fmt.Appendf(nil, `{"url": %q, "events": ["booking.created", "booking.confirmed", "booking.cancelled"]}`, url)).
		decode(t, http.StatusCreated, &hook)
	w.callAdmin(t, http.MethodPost, "businesses/hooked/webhooks",
		[]byte(`{"url": "https://169.254.169.254/latest", "events": ["*"]}`)).
		checkStatus(t, http.StatusBadRequest, "invalid_parameter")

	w.book(t, "hooked", w.createKey(t, "hooked", "all"), newOrder(w.idsByName(t, "hooked", "services")["Cut"],
		"2027-03-02",
		"10:00")).
		checkStatus(t, http.StatusCreated, "")
	first := nextDelivery(t, deliveries)
	id := first.decodeEvent(t).Data.ID
	w.callAdmin(t, http.MethodPost, "businesses/hooked/bookings/"+id+"/confirm", nil).checkStatus(t, http.StatusOK, "")
	w.callAdmin(t, http.MethodPost, "businesses/hooked/bookings/"+id+"/cancel", nil).checkStatus(t, http.StatusOK, "")
	input := []delivery{first, nextDelivery(t, deliveries), nextDelivery(t, deliveries)}
	for i := range input {
		input[i].Secret = hook.Secret
	}
	run := programs.Script(t, verifyScript, encodeJSON(t, input))
	if want := "booking.created pending 1\nbooking.confirmed confirmed 2\nbooking.cancelled cancelled 3\n"; run.Exit != 0 || run.Stdout != want {
		t.Errorf("the receiver reads %q %s, want %q", run.Stdout, run.Stderr, want)
	}

	at := "businesses/hooked/webhooks/" + hook.ID
	w.callAdmin(t, http.MethodPost, at+"/test", nil).checkStatus(t, http.StatusAccepted, "")
	if event := nextDelivery(t, deliveries).decodeEvent(t); event.Type != "webhook.test" {
		t.Errorf("the test event is %+v", event)
	}
	var rotated struct{ Secret string }
	w.callAdmin(t, http.MethodPost, at+"/rotate", nil).decode(t, http.StatusOK, &rotated)
	var log struct {
		Deliveries []struct {
			ID, Status, Type string
			Attempts         []struct {
				HTTPStatus *int `json:"http_status"`
			}
		}
	}
	w.callAdmin(t, http.MethodGet, at+"/deliveries", nil).decode(t, http.StatusOK, &log)
	if len(log.Deliveries) != 4 || log.Deliveries[3].Type != "booking.created" ||
		len(log.Deliveries[3].Attempts) != 1 || *log.Deliveries[3].Attempts[0].HTTPStatus != http.StatusOK {
		t.Errorf("the log is %+v", log)
	}
	w.callAdmin(t, http.MethodPost, "businesses/hooked/deliveries/"+log.Deliveries[3].ID+"/retry", nil).checkStatus(t,
		http.StatusAccepted, "")
	second := nextDelivery(t, deliveries)
	if second.Headers["webhook-id"] != first.Headers["webhook-id"] || second.Body != first.Body {
		t.Errorf("sent again, it is %+v", second)
	}
	old, renewed := second, second
	old.Secret, renewed.Secret = hook.Secret, rotated.Secret
	if run := programs.Script(t, verifyScript, encodeJSON(t, []delivery{old, renewed})); run.Exit != 0 {
		t.Errorf("one of two secrets does not verify: %s", run.Stderr)
	}
	w.callAdmin(t, http.MethodPatch, at, []byte(`{"active": false}`)).checkStatus(t, http.StatusOK, "")
	w.callAdmin(t, http.MethodDelete, at, nil).checkStatus(t, http.StatusNoContent, "")
	w.callAdmin(t, http.MethodGet, at+"/deliveries", nil).checkStatus(t, http.StatusNotFound, "not_found")
}

// TestErasureWebhookOmitsCustomerAddress shows that an erasure sends a webhook to receivers that keep copies. The
// webhook does not contain the customer's name or address (lifecycle.md §6).
func TestErasureWebhookOmitsCustomerAddress(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "hook-erased", buildSalon("hook-erased", 1))
	url, deliveries := startReceiver(t)
	w.callAdmin(t, http.MethodPost, "businesses/hook-erased/webhooks",
		fmt.Appendf(nil, `{"url": %q, "events": ["customer.erased"]}`, url)).checkStatus(t, http.StatusCreated, "")
	w.book(t, "hook-erased", w.createKey(t, "hook-erased", "all"),
		newOrder(w.idsByName(t, "hook-erased", "services")["Cut"], "2027-03-02",
			"10:00")).checkStatus(t, http.StatusCreated, "")
	w.callAdmin(t, http.MethodPost, "businesses/hook-erased/customers/erase",
		[]byte(`{"email": "ada@example.com", "force": true}`)).checkStatus(t, http.StatusOK, "")
	d := nextDelivery(t, deliveries)
	body, err := base64.StdEncoding.DecodeString(d.Body)
	if err != nil {
		t.Fatal(err)
	}
	var says struct {
		Type string
		Data struct {
			Bookings int
			Forced   bool
		}
	}
	if err := json.Unmarshal(body, &says); err != nil || says.Type != "customer.erased" || says.Data.Bookings != 1 ||
		!says.Data.Forced {
		t.Errorf("%s: %v", body, err)
	}
	if text := strings.ToLower(string(body)); strings.Contains(text, "ada") || strings.Contains(text, "@") {
		t.Errorf("the body contains data of the customer: %s", body)
	}
}
