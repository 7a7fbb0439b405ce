package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
)

// publishHarbor publishes the demo business, which has every kind of product. It returns the queries of its public
// reads, by the path in the document.
func publishHarbor(t *testing.T, w *platform, slug string) map[string][]string {
	t.Helper()
	manifest, err := os.ReadFile("../demo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w.publish(t, slug, strings.Replace(string(manifest), "slug: harbor-studio", "slug: "+slug, 1))
	cut, sauna := w.idsByName(t, slug, "services")["Haircut"], w.idsByName(t, slug, "services")["Sauna"]
	anna := w.idsByName(t, slug, "staff")["Anna"]
	kayak := w.idsByName(t, slug, "rentals")["Kayak"]
	return map[string][]string{
		"info":     {""},
		"services": {"", "?locale=pt", "?locale=xx", "?date=2027-06-05", "?date=2027-06-05&locale=pt-BR"},
		"staff":    {"", "?locale=pt", "?service_id=" + cut, "?service_id=" + cut + "&locale=pt"},
		"events":   {"", "?locale=pt"},
		"rentals":  {"", "?locale=pt", "?date=2027-06-05"},
		"slots": {
			"?date=2027-03-01&service_id=" + cut, "?date=2027-03-01&service_id=" + cut + "," + sauna,
			"?date=2027-03-05&is_package=false&staff_id=" + anna + "&service_id=" + cut,
		},
		"available-dates": {
			"?start=2027-03-01&end=2027-05-01&service_id=" + cut, "?start=2027-03-01&end=2027-03-01&service_id=" + cut +
				"&staff_id=" + anna,
			"?start=2020-01-01&end=2020-01-31&service_id=" + cut,
		},
		"rental-availability": {
			"?startDate=2027-03-01&endDate=2027-03-02&rentalId=" + kayak,
			"?startDate=2027-03-01&endDate=2027-03-01&startTime=10:00&endTime=24:00&quantity=1000&lang=de&rentalId=" +
				kayak,
			"?startDate=2027-03-01&endDate=2027-03-01&rentalId=" + cut,
		},
		"rental-available-dates": {"?start=2027-03-01&end=2027-05-01&rental_id=" + kayak + "," + kayak},
	}
}

// TestReadsMatchDocumentAndAllowCORS requests every read of the document from a page of another origin. The client's
// transport [contract] compares the answers with the document.
func TestReadsMatchDocumentAndAllowCORS(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	reads := publishHarbor(t, w, "harbor-reads")
	d := loadServedDocument(t, w.PublicURL+"/api/public/openapi.json", nil)
	for path, item := range d.Paths.Map() {
		name := strings.TrimPrefix(path, "/api/public/{slug}/")
		if name != path && item.Get != nil && len(reads[name]) == 0 {
			t.Errorf("%s is described and not read", path)
		}
	}
	page := http.Header{"Origin": {"https://pages.example"}}
	for name, queries := range reads {
		for _, query := range queries {
			url := w.PublicURL + "/api/public/harbor-reads/" + name + query
			header := page.Clone()
			header.Set("X-Forwarded-For", newAddress())
			get := w.do(t, http.MethodGet, url, nil, header)
			get.checkStatus(t, http.StatusOK, "")
			head := w.do(t, http.MethodHead, url, nil, header)
			if head.status != http.StatusOK || head.header.Get("Content-Length") != fmt.Sprint(len(get.body)) ||
				len(head.body) != 0 {
				t.Errorf("HEAD %s: %d %v", url, head.status, head.header)
			}
			expose := get.header.Get("Access-Control-Expose-Headers")
			if get.header.Get("Access-Control-Allow-Origin") != "*" || !strings.Contains(expose, "ETag") ||
				!strings.Contains(expose, "Retry-After") || !strings.Contains(expose, "traceparent") {
				t.Errorf("%s is closed to pages: %v", url, get.header)
			}
			if tag := get.header.Get("ETag"); tag != "" {
				header.Set("If-None-Match", tag)
				if second := w.do(t, http.MethodGet, url, nil, header); second.status != http.StatusNotModified {
					t.Errorf("%s with its ETag answered %d", url, second.status)
				}
			}
		}
	}
}

func TestPublicPathsRejectOtherMethods(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	publishHarbor(t, w, "harbor-methods")
	d := loadServedDocument(t, w.PublicURL+"/api/public/openapi.json", nil)
	methods := []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "QUERY"}
	for path, item := range d.Paths.Map() {
		url := w.PublicURL + strings.Replace(path, "{slug}", "harbor-methods", 1)
		allow, open := "GET, HEAD, OPTIONS", "*"
		if item.Get == nil {
			allow, open = "POST, OPTIONS", ""
		}
		for _, method := range methods {
			if strings.Contains(allow, method) {
				continue
			}
			a := w.do(t, method, url, nil, http.Header{"X-Forwarded-For": {newAddress()}})
			if a.status != http.StatusMethodNotAllowed || a.header.Get("Allow") != allow ||
				a.header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s %s: %d %v", method, path, a.status, a.header)
			}
		}
		preflight := w.do(t, http.MethodOptions, url, nil, http.Header{
			"Origin": {"https://pages.example"}, "Access-Control-Request-Method": {strings.Split(allow, ", ")[0]},
		})
		if preflight.status != http.StatusNoContent || preflight.header.Get("Allow") != allow ||
			preflight.header.Get("Access-Control-Allow-Origin") != open {
			t.Errorf("OPTIONS %s: %d %v", path, preflight.status, preflight.header)
		}
	}
	for _, method := range append(methods, http.MethodOptions) {
		a := w.do(t, method, w.PublicURL+"/api/public/harbor-methods/nothing", nil, nil)
		if a.status != http.StatusNotFound {
			t.Errorf("%s of an unknown path answered %d", method, a.status)
		}
	}
}

func TestBookRejectsUnsupportedBodies(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "bodies", buildSalon("bodies", 1))
	key := w.createKey(t, "bodies", "write")
	send := func(body string, change map[string]string) reply {
		header := http.Header{"Authorization": {"Bearer " + key}, "X-Forwarded-For": {newAddress()}}
		for name, value := range change {
			header.Set(name, value)
		}
		return w.do(t, http.MethodPost, w.PublicURL+"/api/public/bodies/book", []byte(body), header)
	}
	for _, mediaType := range []string{"text/plain", "text/html", "application/xml",
		"application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "json", "*/*"} {
		send("{}", map[string]string{"Content-Type": mediaType}).checkStatus(t, http.StatusUnsupportedMediaType,
			"unsupported_media_type")
	}
	for _, mediaType := range []string{"", "application/json", "application/json; charset=utf-8",
		"application/merge-patch+json"} {
		send("{}", map[string]string{"Content-Type": mediaType}).checkStatus(t, http.StatusBadRequest,
			"invalid_parameter")
	}
	send("x", map[string]string{"Content-Encoding": "gzip"}).checkStatus(t, http.StatusUnsupportedMediaType,
		"unsupported_media_type")
	send(strings.Repeat(" ", 256<<10+1), nil).checkStatus(t, http.StatusRequestEntityTooLarge, "payload_too_large")
	large := w.do(t, http.MethodGet, w.PublicURL+"/api/public/bodies/info", []byte(strings.Repeat(" ", 256<<10+1)), nil)
	large.checkStatus(t, http.StatusBadRequest, "invalid_parameter") // a read accepts no body of any size
}

func TestUnknownBusinessIsNotFoundOnEveryPath(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	reads := publishHarbor(t, w, "harbor-unknown")
	for _, name := range slices.Sorted(maps.Keys(reads)) {
		a := w.get(t, "nobody/"+name+reads[name][0])
		a.checkStatus(t, http.StatusNotFound, "business_not_found")
		if sentence := a.decodeObject(t)["error"]; sentence != "Business not found" {
			t.Errorf("%s says %q", name, sentence)
		}
	}
	key := w.createKey(t, "harbor-unknown", "write")
	w.book(t, "nobody", key, newOrder("8f14e45f-ceea-567f-a2b6-1d1f7e0f5a01", "2027-03-01", "10:00")).checkStatus(t,
		http.StatusNotFound, "business_not_found")
}
