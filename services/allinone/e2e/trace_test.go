package e2e

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/allinone"
)

// spans receives the spans that services send over OTLP.
type spans struct {
	mu   sync.Mutex
	all  []span
	text strings.Builder // all names and attributes, in which the test searches for secrets
}

type span struct {
	service, trace, id, parent, name string
	attributes                       map[string]string
}

func (s *spans) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var request collector.ExportTraceServiceRequest
	if err == nil {
		err = proto.Unmarshal(body, &request)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, rs := range request.ResourceSpans {
		service := readAttributes(rs.Resource.Attributes)["service.name"]
		for _, scope := range rs.ScopeSpans {
			for _, raw := range scope.Spans {
				s.add(service, raw)
			}
		}
	}
}

func (s *spans) add(service string, raw *trace.Span) {
	s.all = append(s.all, span{
		service: service, trace: hex.EncodeToString(raw.TraceId), id: hex.EncodeToString(raw.SpanId),
		parent: hex.EncodeToString(raw.ParentSpanId), name: raw.Name, attributes: readAttributes(raw.Attributes),
	})
	s.text.WriteString(raw.String())
}

func readAttributes(list []*common.KeyValue) map[string]string {
	m := make(map[string]string)
	for _, kv := range list {
		m[kv.Key] = kv.Value.GetStringValue()
	}
	return m
}

// listEdges returns the calls of one trace: from service to service, and from service to store.
func (s *spans) listEdges(traceID string) map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	byID := make(map[string]span)
	for _, sp := range s.all {
		byID[sp.id] = sp
	}
	edges := make(map[string]bool)
	for _, sp := range s.all {
		if sp.trace != traceID {
			continue
		}
		if parent, ok := byID[sp.parent]; ok && parent.service != sp.service {
			edges[parent.service+" → "+sp.service] = true
		}
		for _, key := range []string{"db.system.name", "db.system"} {
			if store := sp.attributes[key]; store != "" {
				edges[sp.service+" → "+store] = true
			}
		}
	}
	return edges
}

// await waits until each trace has its edges. Services send spans every few seconds, and a slow machine may need longer
// than the time limit of a stop.
func (s *spans) await(t *testing.T, want map[string][]string) {
	t.Helper()
	testkit.WaitUntil(t, "all hops are in their traces", func(context.Context) error {
		for id, edges := range want {
			got := s.listEdges(id)
			for _, edge := range edges {
				if !got[edge] {
					return fmt.Errorf("trace %s has no edge %s; it has %v", id, edge, got)
				}
			}
		}
		return nil
	})
}

// startTraced starts a Slotmesh that sends its spans to the returned receiver.
func startTraced(t *testing.T) (*platform, *spans) {
	t.Helper()
	received := &spans{}
	return startPlatform(t, sendTraces(t, received)), received
}

// sendTraces configures a Slotmesh to send its spans to a receiver.
func sendTraces(t *testing.T, to *spans) func(*allinone.Config) {
	t.Helper()
	sink := httptest.NewServer(to)
	t.Cleanup(sink.Close)
	return func(c *allinone.Config) { c.Telemetry.OTLPEndpoint = sink.URL }
}

func TestBookingTraceSpansAllServices(t *testing.T) {
	t.Parallel()
	w, received := startTraced(t)
	w.publish(t, "traced", buildSalon("traced", 1))
	cut, key := w.idsByName(t, "traced", "services")["Cut"], w.createKey(t, "traced", "write")

	const listing, booking = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7aaaaaaaaaaaaaaaa"
	from := func(id string) http.Header {
		return http.Header{"Traceparent": {"00-" + id + "-1111111111111111-01"}, "X-Forwarded-For": {newAddress()}}
	}
	w.do(t, http.MethodGet, w.PublicURL+"/api/public/traced/slots?date=2027-03-01&service_id="+cut, nil,
		from(listing)).checkStatus(t, http.StatusOK, "")
	o := newOrder(cut, "2027-03-01", "10:00").withField("customer_phone", "+351 912 345 678")
	booked := w.mustBook(t, "traced", key, o, from(booking))
	booked.checkStatus(t, http.StatusCreated, "")
	if tp := booked.header.Get("Traceparent"); !strings.Contains(tp, booking) {
		t.Errorf("the answer's traceparent %q does not name the request's trace", tp)
	}
	received.await(t, map[string][]string{
		listing: {"front → availability", "availability → catalog", "availability → booking", "availability → redis",
			"booking → postgresql"},
		booking: {"front → booking", "booking → availability", "booking → pricing", "booking → catalog",
			"booking → postgresql", "booking → redis"},
	})
	w.stop(t) // sends buffered spans
	for _, secret := range []string{"Ada Example", "ada@example.com", "912 345", key, key[3:], w.AdminToken} {
		if strings.Contains(received.text.String(), secret) {
			t.Errorf("a span carries %q", secret)
		}
	}
}
