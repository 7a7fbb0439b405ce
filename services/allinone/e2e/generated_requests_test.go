package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// generator generates requests for the operations of an OpenAPI document. Most parts of a request match the document,
// and some do not.
type generator struct {
	rng   *rand.Rand
	slug  string
	offer map[string][]string // ids of the offer, by kind
	ids   []string            // ids from earlier answers
}

type generatedRequest struct {
	operation, method, path, query string
	body                           []byte
	header                         http.Header
}

func (r *generatedRequest) String() string {
	return fmt.Sprintf("%s: %s %s?%s %v %.600q", r.operation, r.method, r.path, r.query, r.header, r.body)
}

// hasChance returns true with the probability 1/n.
func (g *generator) hasChance(n int) bool { return g.rng.IntN(n) == 0 }

func pick[T any](g *generator, all ...T) T { return all[g.rng.IntN(len(all))] }

// oddTexts are texts that a careless parser or validator may handle incorrectly.
var oddTexts = []string{
	"", " ", "null", "-1", "0", "1e-20000", "1e309", "9223372036854775808", "NaN", "true", "\x00", "a\x00b", "\u202e",
	"ﬀ", "İ", "😀", "%00", "%zz", "../..",
	"' OR 1=1 --", "<script>", "{{7*7}}", "\xff\xfe", "2027-02-29", "0000-00-00", "9999-12-31", "24:00", "25:61",
	"2027-03-01T09:00:00Z",
	"00000000-0000-0000-0000-000000000000", strings.Repeat("a", 300), strings.Repeat("é", 500),
	strings.Repeat("1,", 40), "*", "\"3\"", "W/\"x\"",
}

// newValue returns a value that a schema describes. In one of 25 cases, it returns a random value.
func (g *generator) newValue(ref *openapi3.SchemaRef, name string, depth int) any {
	if ref == nil || ref.Value == nil || depth > 6 {
		return pick[any](g, nil, "x", 1, true)
	}
	s := ref.Value
	switch {
	case g.hasChance(25):
		return g.newUndescribed(depth)
	case len(s.Enum) > 0:
		return pick(g, s.Enum...)
	case len(s.OneOf) > 0:
		return g.newValue(pick(g, s.OneOf...), name, depth+1)
	case len(s.AnyOf) > 0:
		return g.newValue(pick(g, s.AnyOf...), name, depth+1)
	case len(s.AllOf) > 0:
		return g.newValue(pick(g, s.AllOf...), name, depth+1)
	case s.Type == nil || len(*s.Type) == 0:
		return g.newUndescribed(depth)
	}
	switch kind := pick(g, *s.Type...); kind {
	case "object":
		return g.newObject(s, depth)
	case "array":
		all := []any{}
		for range 1 + g.rng.IntN(3) {
			all = append(all, g.newValue(s.Items, name, depth+1))
		}
		return all
	case "integer", "number":
		return g.newNumber(s, kind)
	case "boolean":
		return g.hasChance(2)
	case "null":
		return nil
	}
	return g.newText(s, name)
}

func (g *generator) newObject(s *openapi3.Schema, depth int) map[string]any {
	o := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if slices.Contains(s.Required, name) && !g.hasChance(30) || g.hasChance(3) {
			o[name] = g.newValue(s.Properties[name], name, depth+1)
		}
	}
	if g.hasChance(15) {
		o[pick(g, oddTexts...)] = g.newUndescribed(depth)
	}
	return o
}

func (g *generator) newNumber(s *openapi3.Schema, kind string) any {
	low, high := -5.0, 2000.0
	if s.Min != nil {
		low = *s.Min
	}
	if s.Max != nil {
		high = *s.Max
	}
	n := pick(g, low, high, low+1, low+float64(g.rng.IntN(20)), low-1, high+1)
	if kind == "number" && g.hasChance(4) {
		n += 0.5
	}
	if n == float64(int64(n)) {
		return int64(n)
	}
	return n
}

// newText returns a string that fits the format of a schema or the name of a field. In one of twelve cases, it returns
// an odd text.
func (g *generator) newText(s *openapi3.Schema, name string) string {
	name = strings.ToLower(name)
	switch {
	case g.hasChance(12):
		return pick(g, oddTexts...)
	case s.Format == "uuid" || strings.HasSuffix(name, "id") || strings.HasSuffix(name, "ids"):
		return g.chooseID(name)
	case s.Format == "date" || strings.Contains(name, "date") || name == "start" || name == "end" || name == "from" ||
		name == "to":
		return fmt.Sprintf("2027-03-%02d", 1+g.rng.IntN(31))
	case s.Format == "date-time":
		return "2027-04-01T09:00:00Z"
	case strings.Contains(name, "time"):
		return fmt.Sprintf("%02d:%02d", 9+g.rng.IntN(8), 15*g.rng.IntN(4))
	case s.Format == "email" || strings.Contains(name, "email"):
		return "ada@example.com"
	case name == "variants":
		return g.chooseID("service") + ":" + g.chooseID(name)
	}
	return pick(g, "en", "pt-BR", "Ada", "online", "at_door", "per_service", "true", "website")
}

// chooseID returns an id, usually of the kind that the field's name begins with.
func (g *generator) chooseID(name string) string {
	for kind, ids := range g.offer {
		if strings.HasPrefix(name, kind) && !g.hasChance(8) {
			return pick(g, ids...)
		}
	}
	return pick(g, g.ids...)
}

// newUndescribed returns a random value that no schema describes.
func (g *generator) newUndescribed(depth int) any {
	switch g.rng.IntN(8) {
	case 0:
		return nil
	case 1:
		return json.Number(pick(g, "1e-20000", "1e400", "-0", "0.1", "12345678901234567890", "1E+2"))
	case 2:
		return map[string]any{pick(g, oddTexts...): pick(g, oddTexts...)}
	case 3:
		return []any{pick(g, oddTexts...), 1, nil}
	case 4:
		var deep any = "x"
		for range 3 + g.rng.IntN(60) {
			deep = []any{deep}
		}
		return deep
	case 5:
		return g.hasChance(2)
	}
	return pick(g, oddTexts...)
}

// newRequest returns a generated request for an operation.
func (g *generator) newRequest(path, method string, item *openapi3.PathItem, op *openapi3.Operation) *generatedRequest {
	r := &generatedRequest{operation: op.OperationID, method: method,
		header: http.Header{"X-Forwarded-For": {newAddress()}}}
	query := url.Values{}
	for _, ref := range slices.Concat(item.Parameters, op.Parameters) {
		p := ref.Value
		value := fmt.Sprint(g.newValue(p.Schema, p.Name, 0))
		switch {
		case p.In == "path" && p.Name == "slug" && !g.hasChance(20):
			path = strings.ReplaceAll(path, "{slug}", g.slug)
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(value))
		// The platform treats an empty value as absent, which the document cannot express.
		case !p.Required && (g.hasChance(2) || value == ""):
		case p.In == "query":
			query.Add(p.Name, value)
			if g.hasChance(20) {
				query.Add(p.Name, pick(g, oddTexts...))
			}
		case p.In == "header" && printable.MatchString(value):
			r.header.Set(p.Name, value)
		}
	}
	r.path, r.query = path, query.Encode()
	if g.hasChance(40) {
		r.query += pick(g, "&%zz", "&;", "&a=%ff", "&=", "&&&")
	}
	if op.RequestBody != nil {
		g.addBody(r, op.RequestBody.Value)
	} else if g.hasChance(30) {
		r.body = []byte(`{"not":"asked for"}`)
	}
	return r
}

var printable = regexp.MustCompile(`^[ -~]*$`)

// addBody adds a body of one of the described media types. Some bodies are truncated or changed.
func (g *generator) addBody(r *generatedRequest, described *openapi3.RequestBody) {
	kinds := slices.DeleteFunc(slices.Sorted(maps.Keys(described.Content)), func(kind string) bool {
		return strings.HasSuffix(kind, "yaml") && kind != "application/yaml" // the validator reads no other YAML type
	})
	kind := pick(g, kinds...)
	r.header.Set("Content-Type", kind)
	if r.operation == "publish" {
		r.header.Set("Content-Type", "application/yaml")
		r.body = []byte(buildSalon(g.slug, 1+g.rng.IntN(3)))
	} else {
		r.body, _ = json.Marshal(g.newValue(described.Content[kind].Schema, "", 0))
	}
	switch g.rng.IntN(30) {
	case 0:
		r.body = r.body[:g.rng.IntN(len(r.body)+1)]
	case 1:
		r.header.Set("Content-Type", pick(g, "text/plain", "multipart/form-data", "application/json; charset=utf-16",
			"json", "*/*"))
	case 2:
		r.header.Set("Content-Encoding", pick(g, "gzip", "br", "identity", "x"))
	case 3:
		r.body = append(r.body, pick(g, "x", "{}", "\x00", " ")...)
	}
	if (r.operation == "publish" || g.hasChance(30)) && len(r.body) > 0 {
		for range g.rng.IntN(4) {
			at := g.rng.IntN(len(r.body) + 1)
			r.body = slices.Concat(r.body[:at], []byte(pick(g, oddTexts...)),
				r.body[min(len(r.body), at+g.rng.IntN(8)):])
		}
	}
}

var uuids = regexp.MustCompile(`"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"`)

// collectIDs keeps ids from an answer, so that later requests name existing objects.
func (g *generator) collectIDs(body []byte) {
	for _, id := range uuids.FindAll(body, 20) {
		text := strings.Trim(string(id), `"`)
		if slices.Contains(g.ids, text) {
			continue
		}
		if len(g.ids) < 60 {
			g.ids = append(g.ids, text)
		} else {
			g.ids[g.rng.IntN(len(g.ids))] = text
		}
	}
}

// listOperations returns a function for each operation of a document, in a fixed order. Each function generates a
// request.
func (g *generator) listOperations(d *openapi3.T) []func() *generatedRequest {
	var all []func() *generatedRequest
	for _, path := range slices.Sorted(maps.Keys(d.Paths.Map())) {
		item := d.Paths.Map()[path]
		for _, method := range slices.Sorted(maps.Keys(item.Operations())) {
			op := item.Operations()[method]
			all = append(all, func() *generatedRequest { return g.newRequest(path, method, item, op) })
		}
	}
	return all
}

// readNumberSetting reads an environment variable that `make attack` sets. The default value is `fallback`.
func readNumberSetting(t *testing.T, name string, fallback uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return fallback
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: write a whole number", name)
	}
	return n
}

// attacker is a Slotmesh with a generator of requests for it.
type attacker struct {
	*platform
	*generator
	key string
}

// renew publishes the business and creates a key. Some requests change or remove the business or the key.
func (a *attacker) renew(t *testing.T) {
	t.Helper()
	a.publish(t, a.slug, buildFullBusiness(a.slug))
	a.key = a.platform.createKey(t, a.slug, "all")
	a.offer = map[string][]string{}
	for kind, list := range map[string]string{"service": "services", "staff": "staff", "event": "events",
		"rental": "rentals"} {
		for _, id := range a.idsByName(t, a.slug, list) {
			a.offer[kind] = append(a.offer[kind], id)
		}
		slices.Sort(a.offer[kind])
	}
	var events struct {
		Events []struct{ Inventory []struct{ ID string } }
	}
	a.get(t, a.slug+"/events").decode(t, http.StatusOK, &events)
	a.offer["tier"] = []string{events.Events[0].Inventory[0].ID}
}

// changesBusiness reports whether a request with this status in its answer changed the business or revoked a key.
func (r *generatedRequest) changesBusiness(status int) bool {
	done := status < http.StatusMultipleChoices
	return done && slices.Contains([]string{"deleteBusiness", "publish", "rollback", "revokeKey"}, r.operation)
}

// TestGeneratedRequestsMatchDocuments sends generated requests and expects an answer without a 5xx status to each,
// because all services run. The client's transport [contract] checks every answer against the documents.
func TestGeneratedRequestsMatchDocuments(t *testing.T) {
	t.Parallel()
	seed := readNumberSetting(t, "SEED", 1)
	w := startPlatform(t, connectStripe(noStripe))
	a := &attacker{platform: w, generator: &generator{rng: rand.New(rand.NewPCG(seed, 0)), slug: "attacked",
		ids: []string{"0190163d-8694-739b-aea5-966c26f8ad91"}}}
	a.renew(t)
	open := a.listOperations(loadServedDocument(t, w.PublicURL+"/api/public/openapi.json", nil).T)
	owners := a.listOperations(loadServedDocument(t, w.AdminURL+"/admin/openapi.json",
		http.Header{"Authorization": {"Bearer " + w.AdminToken}}).T)
	statuses := map[string]map[int]int{}
	for n := range readNumberSetting(t, "ATTACK", 1500) {
		base, bearer, operations := w.PublicURL, a.key, open
		if a.hasChance(2) {
			base, bearer, operations = w.AdminURL, w.AdminToken, owners
		}
		r := pick(a.generator, operations...)()
		if r.operation == "deleteBusiness" && !a.hasChance(8) {
			continue
		}
		if r.header.Get("Authorization") == "" && !a.hasChance(200) {
			r.header.Set("Authorization", "Bearer "+bearer)
		}
		answer, err := a.send(base, r)
		if err != nil || answer.status >= http.StatusInternalServerError {
			t.Errorf("SEED=%d, request %d: %.1200s\nanswered %d %.500s, %v", seed, n, r, answer.status, answer.body,
				trimError(err))
		}
		if statuses[r.operation] == nil {
			statuses[r.operation] = map[int]int{}
		}
		statuses[r.operation][answer.status]++
		a.collectIDs(answer.body)
		if r.changesBusiness(answer.status) {
			a.renew(t)
		}
	}
	for _, operation := range slices.Sorted(maps.Keys(statuses)) {
		t.Log(operation, statuses[operation])
	}
}

// trimError returns the last 600 bytes of an error's text. The text begins with a copy of the request's URL.
func trimError(err error) string {
	if err == nil {
		return ""
	}
	text := err.Error()
	return text[max(0, len(text)-600):]
}

// send sends a generated request, even if its query is invalid.
func (w *platform) send(base string, r *generatedRequest) (reply, error) {
	request, err := http.NewRequest(r.method, base+r.path, bytes.NewReader(r.body))
	if err != nil {
		return reply{}, err
	}
	request.URL.RawQuery = r.query // unchanged, even if it is invalid
	request.Header = r.header
	return w.exchange(request)
}

// buildFullBusiness returns the manifest of a business with a location, services, a class, an event and rentals. A
// business without locations ignores the fields location_id and customer_address, even if they are invalid.
func buildFullBusiness(slug string) string {
	return strings.Replace(buildSalon(slug, 2), "pricing_rules:\n",
		`  - {key: yoga, name: Yoga, duration_minutes: 60, price: 12.50, order: 4, classes: [{key: mon, weekday: mon, time: "10:00", capacity: 5, staff: s0}]}
events:
  - {key: gala, name: Gala, date: 2027-03-20, start_time: "20:00", end_time: "23:00", total_capacity: 500, tiers: [{key: a, name: A, price: 10, capacity: 400}]}
locations:
  - {key: harbour, name: Harbour, kind: place, address: {street: Rua 1, city: Lisboa}}
rentals:
  - {key: kayak, name: Kayak, price: 12, price_type: daily, quantity: 50, units_count: 50}
  - {key: bike, name: Bike, price: 5, price_type: hourly, quantity: 50, units_count: 50}
pricing_rules:
`, 1)
}
