package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// newToolCall returns a JSON-RPC message that calls a tool.
func newToolCall(tool, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, tool,
		arguments)
}

// callRPCInTrace sends one JSON-RPC message with the id of a trace.
func (w *platform) callRPCInTrace(t *testing.T, traceID, key, message string) reply {
	t.Helper()
	return w.do(t, http.MethodPost, w.PublicURL+"/mcp", []byte(message), http.Header{
		"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
		"Mcp-Protocol-Version": {"2025-11-25"},
		"Authorization":        {"Bearer " + key}, "Traceparent": {"00-" + traceID + "-1111111111111111-01"},
	})
}

func TestAgentTraceSpansAllServices(t *testing.T) {
	t.Parallel()
	w, received := startTraced(t)
	w.publish(t, "traced", buildSalon("traced", 1))
	cut, key := w.idsByName(t, "traced", "services")["Cut"], w.createKey(t, "traced", "all")

	const listing, finding, hiring, booking = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7aaaaaaaaaaaaaaaa",
		"0af7651916cd43dd8448eb211c80319c", "5b8aa5a2d2c872e8321cf37308d69df2"
	order := fmt.Sprintf(`{"service_ids":[%q],"date":"2027-03-01","time":"10:00","customer_name":"Ada Example","customer_email":"ada@example.com",
		"customer_phone":"+351 912 345 678"}`, cut)
	for id, message := range map[string]string{
		listing: newToolCall("list_services", `{}`),
		finding: newToolCall("find_slots", fmt.Sprintf(`{"service_ids":[%q],"date":"2027-03-01"}`, cut)),
		hiring:  newToolCall("list_rentals", `{}`),
		booking: newToolCall("book_appointment", order),
	} {
		a := w.callRPCInTrace(t, id, key, message)
		a.checkStatus(t, http.StatusOK, "")
		if tp := a.header.Get("Traceparent"); !strings.Contains(tp, id) || strings.Contains(string(a.body),
			"messageCode") {
			t.Errorf("traceparent %q, body %s", tp, a.body)
		}
	}
	received.await(t, map[string][]string{
		listing: {"front → mcp", "mcp → booking", "mcp → catalog", "booking → postgresql", "mcp → redis"},
		finding: {"front → mcp", "mcp → booking", "mcp → availability", "availability → booking",
			"booking → postgresql"},
		hiring: {"front → mcp", "mcp → booking", "mcp → catalog"},
		booking: {"front → mcp", "mcp → booking", "booking → availability", "booking → catalog", "booking → pricing",
			"booking → postgresql"},
	})
	w.stop(t) // sends buffered spans
	for _, secret := range []string{"Ada Example", "ada@example.com", "912 345", key, key[3:]} {
		if strings.Contains(received.text.String(), secret) {
			t.Errorf("a span carries %q", secret)
		}
	}
}
