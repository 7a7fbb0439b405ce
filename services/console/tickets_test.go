package console_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

const (
	gala = "33333333-3333-4333-8333-333333333333"
	vip  = "44444444-4444-4444-8444-444444444444"
)

func someTickets(customer string) string {
	return `{"event_id": "` + gala + `", "tier_id": "` + vip + `", "quantity": 2, "customer_name": "` + customer +
		`", "customer_email": "cara@example.com", "locale": "pt"}`
}

func TestTicketsSellListAndCancel(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	publish(t, w)
	sale := w.Call(t, "POST", harb+"/tickets", someTickets("Cara"))
	if sale.Status != 201 || sale.Header.Get("Cache-Control") != "no-store" ||
		field(t, sale, "event_name") != "Gala of harbor" || field(t, sale, "quantity") != 2.0 ||
		field(t, sale, "customer_email") != "cara@example.com" || field(t, sale, "locale") != "pt" {
		t.Fatalf("sold: %d %v %s", sale.Status, sale.Header, sale.Body)
	}
	w.Call(t, "POST", harb+"/tickets", strings.Replace(someTickets("Dora"), gala, vip, 1))
	for query, want := range map[string]int{"": 2, "?event_id=" + gala: 1, "?limit=1": 1,
		"?event_id=" + uuid.NewString(): 0} {
		if list := field(t, w.Call(t, "GET", harb+"/tickets"+query, ""), "tickets").([]any); len(list) != want {
			t.Errorf("%q: %d orders, want %d", query, len(list), want)
		}
	}
	at := harb + "/tickets/" + field(t, sale, "id").(string)
	if got := w.Call(t, "GET", at+"/cancellation", ""); got.Status != 200 || field(t, got, "allowed") != true {
		t.Errorf("previewed: %d %s", got.Status, got.Body)
	}
	expect(t, w.Call(t, "POST", at+"/cancel", `{"refund": "all"}`), 400, "invalid_parameter", "refund")
	expect(t, w.Call(t, "POST", at+"/refund", ""), 409, "conflict", "cancel it")
	if got := w.Call(t, "POST", at+"/cancel", `{"refund": "full"}`); got.Status != 200 ||
		field(t, got, "status") != "cancelled" {
		t.Errorf("cancelled: %d %s", got.Status, got.Body)
	}
	expect(t, w.Call(t, "POST", at+"/cancel", ""), 409, "conflict", "cancelled")
	if got := w.Call(t, "POST", at+"/refund", `{"refund": 12.5}`); got.Status != 200 {
		t.Errorf("refunded: %d %s", got.Status, got.Body)
	}
	expect(t, w.Call(t, "POST", at+"/use", ""), 404, "not_found", "nothing")
	for _, id := range []string{uuid.NewString(), "1"} {
		expect(t, w.Call(t, "POST", harb+"/tickets/"+id+"/cancel", ""), 404, "not_found", "Tickets")
	}
	for _, change := range []string{`"change":"sell tickets"`, `"change":"cancel tickets"`,
		`"change":"refund tickets"`} {
		if !strings.Contains(w.Log.String(), change) {
			t.Errorf("the log does not hold %s: %s", change, w.Log)
		}
	}
	if strings.Contains(strings.ToLower(w.Log.String()), "cara") {
		t.Errorf("the log contains data of the customer: %s", w.Log)
	}
}

func TestSellTicketsReportsFieldErrors(t *testing.T) {
	t.Parallel()
	w := consoletest.Start(t)
	publish(t, w)
	valid := someTickets("Cara")
	for name, change := range map[string][2]string{
		"event_id": {gala, "gala"}, "tier_id": {vip, ""}, "quantity": {`"quantity": 2`, `"quantity": "two"`},
		"quantity:": {`"quantity": 2`, `"quantity": 0`}, "colour": {"quantity", "colour"},
	} {
		expect(t, w.Call(t, "POST", harb+"/tickets", strings.Replace(valid, change[0], change[1], 1)), 400,
			"invalid_parameter", name)
	}
	expect(t, w.Call(t, "POST", harb+"/tickets", strings.Replace(valid, `"quantity": 2`, `"quantity": 11`, 1)), 409,
		"conflict", "Sold out")
	for name, tiers := range map[string]string{
		"tiers: send at least one":     `"tiers": []`,
		"neither tier_id nor quantity": `"quantity": 1, "tiers": [{"tier_id": "` + vip + `", "quantity": 1}]`,
		"tiers[1].tier_id": `"tiers": [{"tier_id": "` + vip +
			`", "quantity": 1}, {"tier_id": "vip", "quantity": 1}]`,
		"colour": `"tiers": [{"tier_id": "` + vip + `", "colour": 1}]`,
	} {
		expect(t, w.Call(t, "POST", harb+"/tickets", `{"event_id": "`+gala+`", "customer_name": "Cara", `+tiers+`}`),
			400, "invalid_parameter", name)
	}
	for _, query := range []string{"event_id=x", "limit=0"} {
		expect(t, w.Call(t, "GET", harb+"/tickets?"+query, ""), 400, "invalid_parameter", strings.Split(query, "=")[0])
	}
	elsewhere := "/admin/businesses/elsewhere/tickets"
	expect(t, w.Call(t, "GET", elsewhere, ""), 404, "business_not_found", "Business")
	expect(t, w.Call(t, "POST", elsewhere, valid), 404, "business_not_found", "Business")
	expect(t, w.Call(t, "POST", elsewhere+"/"+gala+"/cancel", ""), 404, "business_not_found", "Business")
}
