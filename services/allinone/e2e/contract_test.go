package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"github.com/slotmesh/slotmesh/libs/contracts/components"
)

// contract is a transport that validates every response and every accepted request against the OpenAPI documents of the
// public interface and the admin API. An exchange that violates its document fails.
type contract struct {
	next      http.RoundTripper
	documents map[string]*document // by scheme and host
}

func (c *contract) RoundTrip(r *http.Request) (*http.Response, error) {
	d := c.documents[r.URL.Scheme+"://"+r.URL.Host]
	// MCP and pages have no OpenAPI document. Tests in services/mcp check MCP.
	if d == nil || r.URL.Path == "/mcp" || slices.ContainsFunc(components.All["pages"].Below,
		func(at string) bool { return strings.HasPrefix(r.URL.Path, at+"/") }) {
		return c.next.RoundTrip(r)
	}
	var sent []byte
	// Keep http.NoBody for a request without a body. If another reader returns no byte within 200 ms, net/http sends an
	// empty chunk.
	if r.Body != nil && r.Body != http.NoBody {
		var err error
		if sent, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(sent))
	}
	response, err := c.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	if err != nil {
		return nil, err
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	if err := d.check(r, sent, response, body); err != nil {
		return nil, fmt.Errorf("against the document: %s %s answered %d %.600s: %w", r.Method, r.URL,
			response.StatusCode, body, err)
	}
	return response, nil
}

// CloseIdleConnections lets [http.Client.CloseIdleConnections] reach the connections.
func (c *contract) CloseIdleConnections() {
	if closer, ok := c.next.(interface{ CloseIdleConnections() }); ok {
		closer.CloseIdleConnections()
	}
}

// document is an OpenAPI document with its router.
type document struct {
	*openapi3.T
	router routers.Router
}

// loadDocument reads an OpenAPI document and makes it strict. The tests treat an unknown field as an error, although
// clients should ignore unknown fields.
func loadDocument(text []byte) (*document, error) {
	described, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, err
	}
	if err := described.Validate(context.Background(), openapi3.EnableMultiError()); err != nil {
		return nil, err
	}
	for name, schema := range described.Components.Schemas {
		if !strings.HasSuffix(name, "Request") {
			forbidUnknownFields(schema)
		}
	}
	forbidUnknownCodes(described)
	described.Servers = nil // accept any host
	router, err := gorillamux.NewRouter(described)
	return &document{described, router}, err
}

// forbidUnknownCodes forbids error codes that the document does not list, although clients should expect new ones.
func forbidUnknownCodes(described *openapi3.T) {
	if code := described.Components.Schemas["Error"].Value.Properties["messageCode"].Value; strings.HasPrefix(described.Info.Title, "Slotmesh public") {
		code.Enum = code.Examples
	}
}

// forbidUnknownFields forbids fields that the schema does not name, in the schema and in its inline schemas.
func forbidUnknownFields(ref *openapi3.SchemaRef) {
	schema := ref.Value
	if len(schema.Properties) > 0 && schema.AdditionalProperties.Has == nil &&
		schema.AdditionalProperties.Schema == nil {
		no := false
		schema.AdditionalProperties.Has = &no
	}
	for _, property := range schema.Properties {
		if property.Ref == "" {
			forbidUnknownFields(property)
		}
	}
	if schema.Items != nil && schema.Items.Ref == "" {
		forbidUnknownFields(schema.Items)
	}
}

var traceparent = regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$`)

func (d *document) check(r *http.Request, sent []byte, response *http.Response, body []byte) error {
	if !traceparent.MatchString(response.Header.Get("traceparent")) {
		return errors.New("there is no traceparent")
	}
	request := r.Clone(context.Background())
	request.Body = io.NopCloser(bytes.NewReader(sent))
	if r.Method == http.MethodHead {
		request.Method = http.MethodGet
	}
	route, parameters, err := d.router.FindRoute(request)
	if err != nil {
		return d.checkUndescribed(r, response, body)
	}
	input := &openapi3filter.RequestValidationInput{
		Request: request, PathParams: parameters, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
			IncludeResponseStatus: true, SkipSettingDefaults: true},
	}
	if response.StatusCode < http.StatusBadRequest {
		if err := openapi3filter.ValidateRequest(context.Background(), input); err != nil {
			return fmt.Errorf("a request was accepted that is not described: %w", err)
		}
	}
	if r.Method == http.MethodHead || response.StatusCode == http.StatusNotModified {
		if len(body) != 0 {
			return errors.New("there is a body")
		}
		return nil
	}
	answer := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input, Status: response.StatusCode, Header: response.Header,
		Body: io.NopCloser(bytes.NewReader(body)), Options: input.Options,
	}
	return openapi3filter.ValidateResponse(context.Background(), answer)
}

// checkUndescribed checks the answer to a path or method that the document does not describe.
func (d *document) checkUndescribed(r *http.Request, response *http.Response, body []byte) error {
	if r.Method == http.MethodOptions && response.StatusCode == http.StatusNoContent {
		return nil
	}
	if response.StatusCode < http.StatusBadRequest {
		return errors.New("this path or method is not described")
	}
	if response.StatusCode == http.StatusMethodNotAllowed && response.Header.Get("Allow") == "" {
		return errors.New("405 without Allow")
	}
	if r.Method == http.MethodHead {
		return nil
	}
	if got := response.Header.Get("Content-Type"); got != "application/json" {
		return fmt.Errorf("Content-Type is %q", got)
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return err
	}
	return d.Components.Schemas["Error"].Value.VisitJSON(value, openapi3.EnableJSONSchema2020())
}

// documents caches the parsed documents by their text, because all platforms of one build serve the same documents.
var documents struct {
	sync.Mutex
	byText map[string]*document
}

func loadServedDocument(t *testing.T, url string, header http.Header) *document {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = header.Clone()
	if request.Header == nil {
		request.Header = http.Header{}
	}
	request.Header.Set("X-Forwarded-For", newAddress())
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s answered %d, %v: %.200s", url, response.StatusCode, err, text)
	}
	documents.Lock()
	defer documents.Unlock()
	if d := documents.byText[string(text)]; d != nil {
		return d
	}
	d, err := loadDocument(text)
	if err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	if documents.byText == nil {
		documents.byText = make(map[string]*document)
	}
	documents.byText[string(text)] = d
	return d
}

// underContract returns a transport that checks all exchanges against the documents that the platform serves.
func (w *platform) underContract(t *testing.T, next http.RoundTripper) http.RoundTripper {
	t.Helper()
	return &contract{next: next, documents: map[string]*document{
		w.PublicURL: loadServedDocument(t, w.PublicURL+"/api/public/openapi.json", nil),
		w.AdminURL: loadServedDocument(t, w.AdminURL+"/admin/openapi.json",
			http.Header{"Authorization": {"Bearer " + w.AdminToken}}),
	}}
}

func TestContractDetectsDrift(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "drift", buildSalon("drift", 1))
	d := loadServedDocument(t, w.PublicURL+"/api/public/openapi.json", nil)
	info := w.get(t, "drift/info")
	cut, key := w.idsByName(t, "drift", "services")["Cut"], w.createKey(t, "drift", "write")
	good := encodeJSON(t, newOrder(cut, "2027-03-01", "10:00"))
	booked := w.book(t, "drift", key, newOrder(cut, "2027-03-01", "10:00"))
	for name, c := range map[string]struct {
		method, path string
		sent         []byte
		from         reply
		change       func(a *reply)
	}{
		"a field more": {"GET", "info", nil, info, func(a *reply) {
			a.body = bytes.Replace(a.body, []byte(`{"name"`), []byte(`{"nickname":"","name"`), 1)
		}},
		"a field less": {"GET", "info", nil, info, func(a *reply) {
			a.body = bytes.Replace(a.body, []byte(`"cooling_off_hours":0,`), nil, 1)
		}},
		"another type": {"GET", "info", nil, info, func(a *reply) {
			a.body = bytes.Replace(a.body, []byte(`"cooling_off_hours":0`), []byte(`"cooling_off_hours":"0"`), 1)
		}},
		"a null": {"GET", "info", nil, info, func(a *reply) {
			a.body = bytes.Replace(a.body, []byte(`"slug":"drift"`), []byte(`"slug":null`), 1)
		}},
		"a member deeper": {"GET", "info", nil, info, func(a *reply) {
			a.body = bytes.Replace(a.body, []byte(`{"services":true`), []byte(`{"classes":true,"services":true`), 1)
		}},
		"another header": {"GET", "info", nil, info, func(a *reply) {
			a.header.Set("Cache-Control", "public")
		}},
		"another status": {"GET", "info", nil, info, func(a *reply) { a.status = 202 }},
		"a header less":  {"GET", "info", nil, info, func(a *reply) { a.header.Del("Cache-Control") }},
		"no trace":       {"GET", "info", nil, info, func(a *reply) { a.header.Del("Traceparent") }},
		"an unknown code": {"GET", "info", nil, info, func(a *reply) {
			a.status, a.body = 404, []byte(`{"error":"x","messageCode":"gone"}`)
		}},
		"an error without words": {"GET", "nothing", nil, info, func(a *reply) {
			a.status, a.body = 404, []byte(`{"messageCode":"not_found"}`)
		}},
		"405 without Allow": {"POST", "info", nil, info, func(a *reply) {
			a.status, a.body = 405, []byte(`{"error":"x","messageCode":"method_not_allowed"}`)
		}},
		"an undescribed path": {"GET", "nothing", nil, info, func(*reply) {}},
		"a lax parameter":     {"GET", "staff?service_id=x", nil, w.get(t, "drift/staff"), func(*reply) {}},
		"a lax body": {"POST", "book", bytes.Replace(good, []byte(`"10:00"`), []byte(`"9"`), 1), booked,
			func(*reply) {}},
	} {
		request, err := http.NewRequest(c.method, w.PublicURL+"/api/public/drift/"+c.path, bytes.NewReader(c.sent))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		a := reply{c.from.status, c.from.header.Clone(), slices.Clone(c.from.body)}
		c.change(&a)
		if d.check(request, c.sent, &http.Response{StatusCode: a.status, Header: a.header}, a.body) == nil {
			t.Errorf("%s goes unnoticed", name)
		}
	}
}

// TestBookAcceptsNullsAndTextFlags sends nulls for optional fields and texts for flags. The client's transport
// [contract] checks that the document describes them.
func TestBookAcceptsNullsAndTextFlags(t *testing.T) {
	t.Parallel()
	w := sharePlatform(t)
	w.publish(t, "nulls", buildSalon("nulls", 2))
	d := loadServedDocument(t, w.PublicURL+"/api/public/openapi.json", nil)
	cut, key := w.idsByName(t, "nulls", "services")["Cut"], w.createKey(t, "nulls", "write")
	described := d.Components.Schemas["BookingRequest"].Value
	o := newOrder(cut, "2027-03-01", "10:00")
	for name := range described.Properties {
		if !slices.Contains(described.Required, name) {
			o = o.withField(name, nil)
		}
	}
	w.book(t, "nulls", key, o).checkStatus(t, http.StatusCreated, "")
	w.book(t, "nulls", key, o.withField("is_package", "true").withField("variants", "")).checkStatus(t,
		http.StatusCreated, "")
	w.book(t, "nulls", key, o.withField("time", "12:00").withField("is_package", "false").withField("variants",
		[]string{})).checkStatus(t,
		http.StatusCreated, "")
}
