package mcp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// repeatItems returns n elements of a JSON list. In each, %d is replaced by the number of the element.
func repeatItems(n int, each string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = strings.ReplaceAll(each, "%d", fmt.Sprintf("%012d", i))
	}
	return strings.Join(list, ",")
}

// newLargeBusiness returns peers whose services, events and rentals have one element with n variants, tiers or upsells.
// Their texts become longer when they are escaped.
func newLargeBusiness(n int) *fakePeers {
	const public, frame = "GET /internal/api/public/harbor/",
		`"currency":"EUR","quote":{"date":"2027-03-01","applies_pricing_rules":true,"basis":"As of now."}`
	text, _ := json.Marshal(strings.Repeat("<&\"é", 150))
	of := `"id":"` + annaID + `","name":` + string(text) + `,"category":` + string(text) + `,"description":` +
		string(text) + `,"price":999999999999.99,"quoted_price":999999999999.99,`
	part := `{"id":"3f2c8a52-0c5e-4d5b-9a55-%d","name":` + string(text) +
		`,"duration_minutes":10080,"price":999999999999.99,"quoted_price":999999999999.99,` +
		`"total_capacity":1000000,"spots_remaining":1000000}`
	s := newPeers()
	s.answers[public+"services"] = json.RawMessage(`{"services":[{` + of + `"variants":[` + repeatItems(n, part) +
		`]}],` +
		frame + `}`)
	s.answers[public+"events"] = json.RawMessage(`{"events":[{` + of + `"inventory":[` + repeatItems(n, part) + `]}],` +
		frame + `}`)
	s.answers[public+"rentals"] = json.RawMessage(`{"rentals":[{` + of +
		`"price_type":"daily"}],"add_on_rentals":[],"rental_upsells":[` +
		repeatItems(n,
			`{"rental_id":"`+annaID+`","upsell_rental_id":"3f2c8a52-0c5e-4d5b-9a55-%d","is_required":false}`) +
		`],` + frame + `}`)
	return s
}

// countParts returns the number of parts that the only element of an answer shows, and the total number that it states.
func (c content) countParts(list, parts string) (int, any) {
	elements, _ := c.StructuredContent[list].([]any)
	element, _ := elements[0].(map[string]any)
	shown, _ := element[parts].([]any)
	return len(shown), element[parts+"_total"]
}

func TestNestedListsAreBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		tool, list, parts string
		most              int
	}{
		{"list_services", "services", "variants", 50},
		{"list_events", "events", "inventory", 50},
		{"list_rentals", "rentals", "upsells", 100},
	} {
		whole := call(t, startServer(t, newLargeBusiness(c.most)), "read", c.tool, nil)
		if n, total := whole.countParts(c.list, c.parts); n != c.most || total != nil {
			t.Errorf("%s shows %d of %d %s, and says %v", c.tool, n, c.most, c.parts, total)
		}
		address := startServer(t, newLargeBusiness(c.most+1))
		part := call(t, address, "read", c.tool, nil)
		if n, total := part.countParts(c.list, c.parts); n != c.most || total != float64(c.most+1) {
			t.Errorf("%s shows %d of %d %s, and says %v", c.tool, n, c.most+1, c.parts, total)
		}
		if err := outputSchemas(t, address, "read")[c.tool].Validate(part.StructuredContent); err != nil {
			t.Error(err)
		}
		if encoded, err := json.Marshal(part); err != nil || len(encoded) > 25_000 {
			t.Errorf("%s gave %d bytes, %v", c.tool, len(encoded), err)
		}
	}
}

func TestTextNotesOmittedVariants(t *testing.T) {
	t.Parallel()
	n := newLargeBusiness(53)
	n.answers["GET /internal/api/public/harbor/services"] = json.RawMessage(`{"services":[{"id":"` + cutID +
		`","name":"Cut","price":1,"variants":[` +
		repeatItems(53, `{"id":"3f2c8a52-0c5e-4d5b-9a55-%d","name":"V","price":1}`) + `]}]}`)
	got := call(t, startServer(t, n), "read", "list_services", nil)
	if !strings.Contains(got.Content[0].Text, "\n  50 of its 53 variants are shown\n") {
		t.Errorf("got %s", got.Content[0].Text)
	}
}

func TestSocialLinksAreStableAndCounted(t *testing.T) {
	t.Parallel()
	links := map[string]string{"a-long-one": "https://social.example/" + strings.Repeat("x", 12_000),
		"video": "https://video.example/" + strings.Repeat("y", 1000)}
	for i := range 48 {
		links[fmt.Sprintf("network-%02d", i)] = "https://social.example/" + strings.Repeat("<", 60)
	}
	n := newPeers()
	info := func() {
		encoded, err := json.Marshal(map[string]any{"name": "Harbor", "slug": "harbor", "timezone": "Europe/Lisbon",
			"social_links": links})
		if err != nil {
			t.Fatal(err)
		}
		n.mu.Lock()
		n.answers["GET /internal/api/public/harbor/info"] = json.RawMessage(encoded)
		n.mu.Unlock()
	}
	info()
	address := startServer(t, n)
	first := call(t, address, "read", "get_business_info", nil)
	shown, _ := first.StructuredContent["social_links"].(map[string]any)
	if len(shown) != 30 || shown["network-29"] == nil || first.StructuredContent["social_links_total"] != 50.0 {
		t.Errorf("%d links, of %v: %v", len(shown), first.StructuredContent["social_links_total"], shown)
	}
	for range 5 {
		if diff := cmp.Diff(first, call(t, address, "read", "get_business_info", nil)); diff != "" {
			t.Error(diff)
		}
	}
	clear(links)
	links["video"] = "https://video.example/" + strings.Repeat("y", 1000)
	info()
	few := call(t, address, "read", "get_business_info", nil)
	if _, said := few.StructuredContent["social_links_total"]; said || cmp.Diff(map[string]any{"video": links["video"]},
		few.StructuredContent["social_links"]) != "" {
		t.Errorf("got %v", few.StructuredContent)
	}
}
