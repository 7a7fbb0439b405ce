package e2e

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

// frontClient is an address of an ingress controller, and the host name of Slotmesh there.
type frontClient struct {
	name       string // what tests call it
	address    string // http://host:port
	host       string // of the Host header
	isOwnFront bool   // what refuses paths is Slotmesh's own front, not the controller
	http       *http.Client
}

// connectFront returns the client for a controller, which it finds in kube-system or in the environment. It skips
// the test if the cluster does not have the controller.
func (c cluster) connectFront(t *testing.T, name, controller, host string) frontClient {
	t.Helper()
	address := os.Getenv(frontOf + strings.ToUpper(controller))
	if address == "" {
		ip, err := c.tryRun(t.Context(), nil, "kubectl", "--namespace", "kube-system", "get", "service", controller,
			"--output", "jsonpath={.spec.clusterIP}")
		if err != nil {
			t.Skipf("this cluster has no %s: %v", controller, err)
		}
		address = "http://" + ip
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(transport.CloseIdleConnections)
	return frontClient{name: name, address: address, host: host, http: &http.Client{
		Transport: transport, Timeout: 30 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// answer is a response whose body was read.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) String() string { return fmt.Sprintf("%d %.300s", a.status, a.body) }

// send sends one request to the path exactly as it is written, with a new client address that the controllers trust.
func (f frontClient) send(ctx context.Context, method, path string, body []byte, header http.Header) (answer, error) {
	request, err := http.NewRequestWithContext(ctx, method, f.address, bytes.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	raw, query, _ := strings.Cut(path, "?")
	request.URL = &url.URL{Scheme: request.URL.Scheme, Host: request.URL.Host, Opaque: raw, RawQuery: query}
	request.Host = f.host
	request.Header.Set("X-Forwarded-For", newClientAddress())
	for name, values := range header {
		request.Header[name] = values
	}
	return exchange(f.http, request)
}

func exchange(c *http.Client, request *http.Request) (answer, error) {
	response, err := c.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(response.Body, 8<<20))
	return answer{response.StatusCode, response.Header, body}, err
}

// newClientAddress returns a random address, so that limits by address do not affect other requests.
func newClientAddress() string {
	return fmt.Sprintf("100.%d.%d.%d", 64+rand.IntN(64), rand.IntN(256), 1+rand.IntN(254))
}

// readJSON decodes the answer of a public path of a business, which must have status 200.
func (f frontClient) readJSON(ctx context.Context, path string, out any) error {
	a, err := f.send(ctx, http.MethodGet, "/api/public/"+path, nil, nil)
	if err != nil {
		return err
	}
	if a.status != http.StatusOK {
		return fmt.Errorf("%s answered %v", path, a)
	}
	return json.Unmarshal(a.body, out)
}

// booking is an appointment with a staff member.
type booking struct{ service, staff, date, time string }

func (f frontClient) book(ctx context.Context, slug, key string, b booking) (answer, error) {
	body, err := json.Marshal(map[string]any{
		"service_ids": []string{b.service}, "staff_id": b.staff, "date": b.date, "time": b.time,
		"customer_name": "Ada Example", "customer_email": "ada@example.com",
	})
	if err != nil {
		return answer{}, err
	}
	return f.send(ctx, http.MethodPost, "/api/public/"+slug+"/book", body,
		http.Header{"Content-Type": {"application/json"}, "Authorization": {"Bearer " + key}})
}

// listFree returns the free appointments of a business's only service in the next two weeks.
func (f frontClient) listFree(ctx context.Context, slug string) ([]booking, error) {
	var offer struct{ Services []struct{ ID string } }
	if err := f.readJSON(ctx, slug+"/services", &offer); err != nil {
		return nil, err
	}
	if len(offer.Services) == 0 {
		return nil, errors.New(slug + " has no services")
	}
	var all []booking
	for day := 1; day <= 14; day++ {
		date := time.Now().AddDate(0, 0, day).Format(time.DateOnly)
		var found struct {
			Computed bool
			Slots    []struct{ Date, Time, StaffID string }
		}
		if err := f.readJSON(ctx, slug+"/slots?date="+date+"&service_id="+offer.Services[0].ID, &found); err != nil {
			return nil, err
		}
		if !found.Computed {
			return nil, fmt.Errorf("the slots of %s on %s were not computed", slug, date)
		}
		for _, s := range found.Slots {
			all = append(all, booking{offer.Services[0].ID, s.StaffID, s.Date, s.Time})
		}
	}
	return all, nil
}

// owner calls the admin API through `kubectl port-forward`, because it is not a public path.
type owner struct {
	address, token string
	http           *http.Client
}

var forwardedAddress = regexp.MustCompile(`Forwarding from (127\.0\.0\.1:\d+)`)

func (c cluster) connectOwner(t *testing.T) owner {
	t.Helper()
	token, err := base64.StdEncoding.DecodeString(c.kubectl(t, "get", "secret", release+"-admin", "--output",
		"jsonpath={.data.token}"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	tunnel := exec.CommandContext(ctx, "kubectl", "--kubeconfig", c.config, "--namespace", namespace, "port-forward",
		"service/"+release+"-console", ":public")
	stdout, err := tunnel.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := tunnel.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cancel(); _ = tunnel.Wait() }) // it ends by being killed
	deadline := time.AfterFunc(waitTimeout, cancel)
	lines := bufio.NewScanner(stdout)
	for lines.Scan() {
		if found := forwardedAddress.FindStringSubmatch(lines.Text()); found != nil {
			deadline.Stop()
			go func() { _, _ = io.Copy(io.Discard, stdout) }()
			return owner{address: "http://" + found[1], token: string(token),
				http: &http.Client{Timeout: 30 * time.Second}}
		}
	}
	t.Fatal("kubectl port-forward to console ended without a port")
	return owner{}
}

// call sends a request to the admin API below /admin/businesses/. The answer must have the given status; call decodes
// it into out.
func (o owner) call(ctx context.Context, method, path, contentType, body string, status int, out any) error {
	request, err := http.NewRequestWithContext(ctx, method, o.address+"/admin/businesses/"+path,
		strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header = http.Header{"Authorization": {"Bearer " + o.token}, "Content-Type": {contentType}}
	a, err := exchange(o.http, request)
	if err != nil {
		return err
	}
	if a.status != status {
		return fmt.Errorf("%s %s answered %v, want %d", method, path, a, status)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(a.body, out); err != nil {
		return fmt.Errorf("%s %s answered %v: %w", method, path, a, err)
	}
	return nil
}

// publish creates a business from the salon manifest.
func (o owner) publish(t *testing.T, slug string, staff int) {
	t.Helper()
	if err := o.call(t.Context(), http.MethodPut, slug, "application/yaml", newSalonManifest(slug, staff),
		http.StatusCreated,
		nil); err != nil {
		t.Fatal(err)
	}
}

// createKey creates an API key that may book.
func (o owner) createKey(t *testing.T, slug string) string {
	t.Helper()
	var created struct{ Key string }
	if err := o.call(t.Context(), http.MethodPost, slug+"/keys", "application/json", `{"name":"e2e","scope":"all"}`,
		http.StatusCreated, &created); err != nil {
		t.Fatal(err)
	}
	return created.Key
}

// ownerBooking is a booking as the owner sees it.
type ownerBooking struct {
	ID        string
	Date      string
	StartTime string `json:"start_time"`
	Status    string
}

// listBookings returns all bookings of a business. It retries, because each replica reconnects to the database by
// itself.
func (o owner) listBookings(t *testing.T, slug string) []ownerBooking {
	t.Helper()
	var all []ownerBooking
	cursor := ""
	for {
		var page struct {
			Bookings   []ownerBooking
			NextCursor string `json:"next_cursor"`
		}
		waitFor(t, "the bookings of "+slug, func() error {
			return o.call(t.Context(), http.MethodGet, slug+"/bookings?limit=1000&cursor="+url.QueryEscape(cursor), "",
				"", http.StatusOK, &page)
		})
		all = append(all, page.Bookings...)
		if page.NextCursor == "" {
			return all
		}
		cursor = page.NextCursor
	}
}

// newSalonManifest returns a business that is open every day and has one service of 15 minutes.
func newSalonManifest(slug string, staff int) string {
	var members, keys []string
	for i := range staff {
		members = append(members, fmt.Sprintf("  - {key: s%d, name: Member %d, order: %d}", i, i, i))
		keys = append(keys, fmt.Sprintf("s%d", i))
	}
	return fmt.Sprintf(`apiVersion: slotmesh/v1
kind: Business
slug: %s
name: Salon
currency: EUR
timezone: Europe/Lisbon
default_language: en
languages: [en]
modules: {services: true, events: true, rentals: true}
bookings: {slot_interval_minutes: 15, min_notice_minutes: 0, advance_days: 365}
hours: {mon: ["09:00-17:00"], tue: ["09:00-17:00"], wed: ["09:00-17:00"], thu: ["09:00-17:00"], fri: ["09:00-17:00"], sat: ["09:00-17:00"], sun: ["09:00-17:00"]}
staff:
%s
services:
  - {key: trim, name: Trim, duration_minutes: 15, price: 10.00, staff: [%s], order: 1}
`, slug, strings.Join(members, "\n"), strings.Join(keys, ", "))
}
