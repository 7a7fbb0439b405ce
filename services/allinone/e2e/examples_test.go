package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/allinone"
)

// TestDocumentExamplesMatchAnswers provokes every message text that the document gives as an example, and checks that
// an answer contains it.
func TestDocumentExamplesMatchAnswers(t *testing.T) {
	t.Parallel()
	var databaseURL string
	w := startPlatform(t, connectStripe(noStripe), func(cfg *allinone.Config) {
		databaseURL, cfg.Now = cfg.DatabaseURL, "2026-11-21T06:00:00Z" // the date that the examples assume
	})
	sentences := make(map[string]bool)
	w.http.Transport = sentenceRecorder{sentences, w.http.Transport}
	publishHarbor(t, w, "harbor-studio")

	w.provokeReads(t)
	w.provokeAccountChecks(t)
	w.provokeBookingAtHome(t)
	w.provokeBooking(t, databaseURL)
	w.provokeKeys(t)
	recordSentences(sentences, http.StatusInternalServerError, fault.Of(errors.New("unexpected")).Body())
	// Only the tests of the booking service provoke this answer.
	recordSentences(sentences, http.StatusServiceUnavailable, fault.Unknown(errors.New("the answer was lost")).Body())

	examples := listExamples(loadServedDocument(t, w.PublicURL+"/api/public/openapi.json", nil))
	if len(examples) == 0 {
		t.Fatal("the document has no examples")
	}
	for _, example := range examples {
		if !sentences[example] {
			t.Errorf("this sentence is an example, but no service has sent it: %s", example)
		}
	}
}

func (w *platform) provokeReads(t *testing.T) {
	t.Helper()
	cut := w.idsByName(t, "harbor-studio", "services")["Haircut"]
	kayak := w.idsByName(t, "harbor-studio", "rentals")["Kayak"]
	const nobody = "8f14e45f-ceea-567f-a2b6-1d1f7e0f5a99"
	days := "harbor-studio/rental-available-dates?start=2026-12-01&end=2026-12-02&rental_id="
	rental := "harbor-studio/rental-availability?startDate=2026-12-01&endDate=2026-12-01&quantity=3&rentalId="
	var many []string
	for range 21 {
		many = append(many, uuid.NewString())
	}
	for _, path := range []string{
		"harbor-studio/nothing", "no.such/info",
		"harbor-studio/services?date=2027-03-01", "harbor-studio/events", "harbor-studio/rentals",
		"harbor-studio/slots", "harbor-studio/slots?date=2027-03-01&service_id=" + nobody,
		"harbor-studio/slots?date=2027-03-01&service_id=" + cut + "&location_id=" + nobody,
		"harbor-studio/available-dates?start=2027-03-01&end=2027-12-01&service_id=" + cut,
		days + strings.Join(many, ","), days + nobody, rental + kayak, rental + nobody,
	} {
		w.get(t, path)
	}
	w.do(t, http.MethodDelete, w.PublicURL+"/api/public/harbor-studio/info", nil, nil)
	w.do(t, http.MethodGet, w.PublicURL+"/api/public/harbor-studio/info", nil,
		http.Header{"X-Large": {strings.Repeat("x", 64<<10)}}).checkStatus(t, http.StatusRequestHeaderFieldsTooLarge,
		"headers_too_large")
	w.notifyStripe(t, "{}", "")
	address := newAddress()
	checkLimit(t, "rental-availability", 60, http.StatusTooManyRequests, func(int) reply {
		return w.getFrom(t, address, rental+kayak)
	})
}

// provokeAccountChecks sends bookings to businesses that accept none.
func (w *platform) provokeAccountChecks(t *testing.T) {
	t.Helper()
	open := buildSalon("shut", 1)
	for code, manifest := range map[string]string{
		"subscription_inactive":  open + "account: {subscription: inactive}\n",
		"account_closing":        open + "account: {removal_on: 2027-06-01}\n",
		"not_open_yet":           open + "open: false\n",
		"not_accepting_bookings": strings.Replace(open, "bookings: {", "bookings: {paused_until: 2027-03-08, ", 1),
	} {
		w.publish(t, "shut", manifest)
		w.book(t, "shut", w.createKey(t, "shut", "write"), order{}).checkStatus(t, http.StatusForbidden, code)
	}
}

func (w *platform) provokeBooking(t *testing.T, databaseURL string) {
	t.Helper()
	key, services := w.createKey(t, "harbor-studio", "write"), w.idsByName(t, "harbor-studio", "services")
	book := func(o order, header http.Header) reply { return w.mustBook(t, "harbor-studio", key, o, header) }

	night := newOrder(services["Haircut"], "2027-03-01", "03:00")
	book(night, nil).checkStatus(t, http.StatusConflict, "closed")
	day := night.withField("time", "10:00")
	book(day.withField("date", "2026-11-20"), nil).checkStatus(t, http.StatusConflict, "date_in_past")
	book(day.withField("date", "2027-11-22"), nil).checkStatus(t, http.StatusConflict, "beyond_advance_limit")
	book(day.withField("time", "10:07"), nil).checkStatus(t, http.StatusConflict, "not_a_start")
	book(day.withField("staff_id", uuid.NewString()), nil).checkStatus(t, http.StatusConflict, "staff_not_found")
	book(day.withField("payment_choice", "online"), nil).checkStatus(t, http.StatusConflict, "payment_not_offered")
	anna := day.withField("staff_id", w.idsByName(t, "harbor-studio", "staff")["Anna"])
	book(anna, nil).checkStatus(t, http.StatusCreated, "")
	book(anna, nil).checkStatus(t, http.StatusConflict, "slot_unavailable")
	for book(day, nil).status == http.StatusCreated {
	}
	book(day, nil).checkStatus(t, http.StatusConflict, "no_staff_available")
	class := newOrder(services["Yoga class"], "2027-03-01", "18:30")
	book(class.withField("party_size", 11), nil).checkStatus(t, http.StatusCreated, "")
	book(class.withField("party_size", 2), nil).checkStatus(t, http.StatusConflict, "slot_unavailable")
	book(night, http.Header{"Content-Type": {"text/plain"}}).checkStatus(t, http.StatusUnsupportedMediaType,
		"unsupported_media_type")
	book(order{"form_data": strings.Repeat("x", 256<<10)}, nil).checkStatus(t, http.StatusRequestEntityTooLarge,
		"payload_too_large")

	once := http.Header{"Idempotency-Key": {"order-1"}}
	sauna := newOrder(services["Sauna"], "2027-03-01", "10:00")
	book(sauna, once).checkStatus(t, http.StatusCreated, "")
	book(sauna.withField("time", "11:00"), once).checkStatus(t, http.StatusUnprocessableEntity, "idempotency_mismatch")
	testkit.Administer(t, databaseURL,
		`UPDATE booking.made_writes SET answer = '{"in_progress": true}', made_at = made_at + interval '1 hour'
			WHERE answer LIKE '%PartySize%'`)
	// as if the first request were still in progress
	book(sauna, once).checkStatus(t, http.StatusConflict, "idempotency_in_progress")

	w.publish(t, "paid", buildPaidSalon("paid"))
	cut := w.idsByName(t, "paid", "services")["Cut"]
	w.book(t, "paid", w.createKey(t, "paid", "write"), newOrder(cut, "2027-03-01", "10:00")).checkStatus(t,
		http.StatusServiceUnavailable, "payment_unavailable")
	if err := w.StopService("availability"); err != nil {
		t.Fatal(err)
	}
	book(sauna, nil).checkStatus(t, http.StatusServiceUnavailable, "availability_unverified")
	w.get(t, "harbor-studio/slots?date=2027-03-01&service_id="+services["Sauna"]).checkStatus(t,
		http.StatusServiceUnavailable, "service_unavailable")
}

// provokeBookingAtHome sends bookings to a business that comes to the customer, with an address that it does not serve,
// and with too little notice.
func (w *platform) provokeBookingAtHome(t *testing.T) {
	t.Helper()
	const slug = "at-home"
	w.publish(t, slug, strings.NewReplacer("min_notice_minutes: 0", "min_notice_minutes: 4320", "bookings: {", `locations:
  - {key: home, kind: customer_address, name: At your place, countries: [PT], postal_codes: ["11*"]}
bookings: {`).Replace(buildSalon(slug, 1)))
	key, cut := w.createKey(t, slug, "write"), w.idsByName(t, slug, "services")["Cut"]
	for code, o := range map[string]order{
		"too_soon":     newOrder(cut, "2026-11-23", "10:00").withField("customer_address", addressOf("1100-001")),
		"outside_area": newOrder(cut, "2027-03-02", "10:00").withField("customer_address", addressOf("4000-001")),
	} {
		w.book(t, slug, key, o).checkStatus(t, http.StatusConflict, code)
	}
}

func addressOf(postalCode string) map[string]any {
	return map[string]any{"street": "Filbert Lane 7", "postal_code": postalCode, "city": "Lisboa", "country": "PT"}
}

func (w *platform) provokeKeys(t *testing.T) {
	t.Helper()
	w.book(t, "harbor-studio", "", order{}).checkStatus(t, http.StatusUnauthorized, "missing_api_key")
	w.book(t, "harbor-studio", w.createKey(t, "harbor-studio", "read"), order{}).checkStatus(t, http.StatusForbidden,
		"scope_forbidden")
	key := w.createKey(t, "harbor-studio", "write")
	address := http.Header{"X-Forwarded-For": {newAddress()}}
	checkLimit(t, "book by address", 10, http.StatusTooManyRequests, func(int) reply {
		return w.mustBook(t, "harbor-studio", key, order{}, address)
	})
	key = w.createKey(t, "harbor-studio", "write")
	checkLimit(t, "book by key", 100, http.StatusUnauthorized, func(int) reply {
		return w.book(t, "harbor-studio", key, order{})
	})
	revoked := w.createKey(t, "harbor-studio", "write")
	w.revokeAll(t, "harbor-studio")
	w.book(t, "harbor-studio", revoked, order{}).checkStatus(t, http.StatusUnauthorized, "invalid_api_key")
}

// sentenceRecorder is a transport that records the message texts in all answers. It is not safe for concurrent use.
type sentenceRecorder struct {
	heard map[string]bool
	next  http.RoundTripper
}

func (h sentenceRecorder) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := h.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(body))
	recordSentences(h.heard, response.StatusCode, body)
	return response, err
}

// CloseIdleConnections lets [http.Client.CloseIdleConnections] reach the connections.
func (h sentenceRecorder) CloseIdleConnections() {
	if closer, ok := h.next.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

// recordSentences records the message texts of an answer twice: with the answer's status, and with the document's
// status "default".
func recordSentences(sentences map[string]bool, status int, body []byte) {
	var value any
	if json.Unmarshal(body, &value) != nil {
		return
	}
	for _, sentence := range listSentences(value) {
		sentences[fmt.Sprint(status, " ", sentence)], sentences["default "+sentence] = true, true
	}
}

// listExamples returns the message texts in the document's examples, each with its status.
func listExamples(d *document) []string {
	var all []string
	for _, item := range d.Paths.Map() {
		for _, operation := range item.Operations() {
			for status, response := range operation.Responses.Map() {
				for _, media := range response.Value.Content {
					for _, value := range listValues(media) {
						for _, sentence := range listSentences(value) {
							all = append(all, status+" "+sentence)
						}
					}
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func listValues(media *openapi3.MediaType) []any {
	all := []any{media.Example}
	for _, example := range media.Examples {
		all = append(all, example.Value.Value)
	}
	return all
}

// listSentences returns the message texts in a body: the error, the reason why a rental is not available, and the basis
// of quoted prices. The messageCode precedes an error and a reason.
func listSentences(body any) []string {
	members, _ := body.(map[string]any)
	var all []string
	for _, name := range []string{"error", "conflictReason"} {
		if sentence, ok := members[name].(string); ok {
			all = append(all, fmt.Sprint(members["messageCode"], ": ", sentence))
		}
	}
	if quote, ok := members["quote"].(map[string]any); ok {
		all = append(all, fmt.Sprint("quote: ", quote["basis"]))
	}
	return all
}
