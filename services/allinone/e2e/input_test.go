package e2e

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/uuid"
)

func TestReadsRejectInvalidParameters(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "strict", buildSalon("strict", 1))
	cut := w.idsByName(t, "strict", "services")["Cut"]
	nobody := uuid.NewString()
	many := strings.TrimSuffix(strings.Repeat(cut+",", 21), ",")
	for _, c := range []struct {
		path   string
		status int
		code   string
		says   string
	}{
		{"slots", 400, "invalid_parameter", "date"},
		{"slots?date=2027-03-01", 400, "invalid_parameter", "service_id"},
		{"slots?date=2027-02-29&service_id=" + cut, 400, "invalid_parameter", "date"},
		{"slots?date=2026-13-01&service_id=" + cut, 400, "invalid_parameter", "date"},
		{"slots?date=tomorrow&service_id=" + cut, 400, "invalid_parameter", "date"},
		{"slots?date=2027-03-01&service_id=cut", 400, "invalid_parameter", "service_id"},
		{"slots?date=2027-03-01&service_id=" + cut + ",", 400, "invalid_parameter", "service_id"},
		{"slots?date=2027-03-01&service_id=" + cut + "&staff_id=anna", 400, "invalid_parameter", "staff_id"},
		{"slots?date=2027-03-01%00&service_id=" + cut, 400, "invalid_parameter", "date"},
		{"slots?date=%ff%fe&service_id=" + cut, 400, "invalid_parameter", "date"},
		{"slots?date=2027-03-01&service_id=" + nobody, 404, "service_not_found", "Service not found: " + nobody},
		{"available-dates?end=2027-03-02&service_id=" + cut, 400, "invalid_parameter", "start"},
		{"available-dates?start=2027-03-02&service_id=" + cut, 400, "invalid_parameter", "end"},
		{"available-dates?start=2027-03-02&end=2027-03-01&service_id=" + cut, 400, "invalid_parameter", "end"},
		{"available-dates?start=2027-03-01&end=2027-05-02&service_id=" + cut, 400, "invalid_parameter",
			"Window too large (max 62 days)."},
		{"available-dates?start=2027-03-01&end=2027-03-02&service_id=" + many, 400, "invalid_parameter", "service_id"},
		{"available-dates?start=2027-03-01&end=2027-03-02&service_id=" + nobody, 404, "service_not_found", nobody},
		{"services?date=2027-02-30", 400, "invalid_parameter", "date"},
		{"staff?service_id=x", 400, "invalid_parameter", "service_id"},
		{"nothing", 404, "not_found", ""},
	} {
		a := w.get(t, "strict/"+c.path)
		if a.status != c.status {
			t.Errorf("%s answered %d, want %d: %s", c.path, a.status, c.status, a.body)
			continue
		}
		a.checkStatus(t, c.status, c.code)
		if sentence, _ := a.decodeObject(t)["error"].(string); !strings.Contains(sentence, c.says) {
			t.Errorf("%s: the sentence %q does not name %q", c.path, sentence, c.says)
		}
	}
	if a := w.get(t, "strict/available-dates?start=2027-03-01&end=2027-05-01&service_id="+
		cut); a.status != http.StatusOK {
		t.Errorf("62 days answered %d: %s", a.status, a.body)
	}
	for _, slug := range []string{"unknown", "Strict", "strict%2f", "stri%00ct", "%ff", strings.Repeat("a", 200)} {
		for _, path := range []string{"info", "services", "staff", "slots?date=2027-03-01&service_id=" + cut} {
			if a := w.get(t, slug+"/"+path); a.status != http.StatusNotFound {
				t.Errorf("%s/%s answered %d: %s", slug, path, a.status, a.body)
			}
		}
	}
}

func TestUnknownLocaleIsAccepted(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "words", buildSalon("words", 1))
	for _, locale := range []string{"pt", "xx-YY", "%00", "%ff", "en_US", strings.Repeat("a", 1000), "*", "'"} {
		for _, list := range []string{"services", "staff"} {
			a := w.get(t, "words/"+list+"?locale="+locale)
			a.checkStatus(t, http.StatusOK, "")
			if strings.Contains(string(a.body), "_translations") {
				t.Errorf("%s?locale=%s carries translation maps", list, locale)
			}
		}
	}
}

func TestBookRejectsInvalidRequests(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "form", buildSalon("form", 1))
	cut := w.idsByName(t, "form", "services")["Cut"]
	good := newOrder(cut, "2027-03-01", "10:00")
	key := w.createKey(t, "form", "write")
	for _, c := range []struct {
		field string
		value any
	}{
		{"service_ids", nil}, {"service_ids", []string{}}, {"service_ids", cut}, {"service_ids", []string{"cut"}},
		{"service_ids", []int{1}},
		{"date", nil}, {"date", "2027-02-29"}, {"date", "01.03.2027"}, {"date", 20270301},
		{"time", nil}, {"time", "9:00"}, {"time", "25:00"}, {"time", "10:00:00"}, {"time", 10},
		{"customer_name", nil}, {"customer_name", ""}, {"customer_name", "   "},
		{"customer_name", strings.Repeat("x", 10_000)}, {"customer_name", "a\x00b"}, {"customer_name", true},
		{"customer_email", nil}, {"customer_email", "nobody"}, {"customer_email", "a@b@c"},
		{"staff_id", "anna"}, {"party_size", 0}, {"party_size", 1001}, {"party_size", 1.5}, {"party_size", "two"},
		{"payment_choice", "later"}, {"form_data", "text"}, {"class_schedule_id", "x"},
	} {
		a := w.book(t, "form", key, good.withField(c.field, c.value))
		if a.status != http.StatusBadRequest {
			t.Errorf("%s = %v answered %d: %.200s", c.field, c.value, a.status, a.body)
			continue
		}
		if sentence, _ := a.decodeObject(t)["error"].(string); !strings.Contains(sentence, c.field) {
			t.Errorf("%s = %v: the sentence %q does not name the field", c.field, c.value, sentence)
		}
	}
	header := http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}}
	send := func(body string) reply {
		from := header.Clone()
		from.Set("X-Forwarded-For", newAddress())
		return w.do(t, http.MethodPost, w.PublicURL+"/api/public/form/book", []byte(body), from)
	}
	for _, body := range []string{"", "{", "[]", "null", `"x"`, "{}}", `{"customer_name":"` + "\xff\xfe" + `"}`} {
		send(body).checkStatus(t, http.StatusBadRequest, "invalid_parameter")
	}
	send(`{"form_data":"`+strings.Repeat("x", 10<<20)+`"}`).checkStatus(t, http.StatusRequestEntityTooLarge,
		"payload_too_large")
	unknown := uuid.NewString()
	a := w.book(t, "form", key, good.withField("service_ids", []string{unknown}))
	a.checkStatus(t, http.StatusNotFound, "service_not_found")
	w.book(t, "form", key, good.withField("staff_id", uuid.NewString())).checkStatus(t, http.StatusConflict,
		"staff_not_found")
	if live := w.countBookings(t, "form"); live != 0 {
		t.Errorf("%d bookings were written", live)
	}
}

func TestFrontRoutesOnlyPublicPaths(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "routed-paths", buildSalon("routed-paths", 1))
	for _, path := range []string{
		"/metrics", "/livez", "/readyz", "/internal/offers/routed-paths", "/admin/businesses",
		"/api/public/routed-paths/../../../metrics",
		"/api/public/routed-paths/%2e%2e/%2e%2e/metrics", "/api/public//info", "/api/public/routed-paths/info/",
		"/API/public/routed-paths/info",
		"/api/public/routed-paths/info;x", "/api/public/routed-paths%2Finfo", "/internal%2Foffers%2Fdoor",
	} {
		request, err := http.NewRequest(http.MethodGet, w.PublicURL, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.URL = &url.URL{Scheme: "http", Host: request.Host, Opaque: path}
		response, err := w.http.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusNotFound {
			t.Errorf("%s answered %d", path, response.StatusCode)
		}
	}
	foreign, err := http.NewRequest(http.MethodGet, w.PublicURL, nil)
	if err != nil {
		t.Fatal(err)
	}
	// The client sends the absolute target http://internal/offers/routed-paths.
	foreign.URL = &url.URL{Scheme: "http", Host: foreign.Host, Opaque: "//internal/offers/routed-paths"}
	response, err := w.http.Do(foreign)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusBadRequest {
		t.Errorf("a target that names another host than Host answered %d", response.StatusCode)
	}
	for method, path := range map[string]string{http.MethodDelete: "info", http.MethodPost: "slots",
		http.MethodGet: "book"} {
		w.do(t, method, w.PublicURL+"/api/public/routed-paths/"+path, nil, http.Header{}).checkStatus(t,
			http.StatusMethodNotAllowed,
			"method_not_allowed")
	}
}
