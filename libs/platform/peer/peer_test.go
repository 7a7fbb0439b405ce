package peer

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/libs/testkit/leaks"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

func TestMain(m *testing.M) { leaks.Verify(m) }

// serve returns a client of a peer with this handler. Its timeout suits a slow machine, unless the options set another
// one.
func serve(t *testing.T, handler http.HandlerFunc, options ...Option) *Client {
	t.Helper()
	server := httptest.NewServer(handler)
	client := New("other", server.URL, telemetry.Discard(), append([]Option{Timeout(testkit.MaxWait)}, options...)...)
	t.Cleanup(func() { client.Close(); server.Close() })
	return client
}

func TestCallSendsJSONAndTrace(t *testing.T) {
	t.Parallel()
	tel := telemetry.Discard()
	var parent string
	client := serve(t, func(w http.ResponseWriter, r *http.Request) {
		parent = r.Header.Get("Traceparent")
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
	})
	ctx, span := tel.Tracer.Start(context.Background(), "caller")
	defer span.End()
	var out struct{ Word string }
	if err := client.Call(ctx, http.MethodPost, "/echo", map[string]string{"Word": "tide"}, &out); err != nil {
		t.Fatal(err)
	}
	if out.Word != "tide" {
		t.Errorf("the answer is %+v", out)
	}
	if id := trace.SpanContextFromContext(ctx).TraceID().String(); len(parent) < 35 || parent[3:35] != id {
		t.Errorf("traceparent %q does not continue trace %s", parent, id)
	}
}

func TestCallReturnsPeerFault(t *testing.T) {
	t.Parallel()
	for _, kind := range []fault.Kind{fault.PreconditionFailed, fault.AvailabilityUnverified,
		fault.PaymentUnavailable} {
		checkFault(t, &fault.Error{
			Kind: kind, Sentence: "Version 3 is newer.", RetryAfter: 2 * time.Second,
			Extra: map[string]any{"version": "3"},
		})
	}
}

func checkFault(t *testing.T, sent *fault.Error) {
	t.Helper()
	client := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "2")
		w.WriteHeader(sent.Kind.Status)
		_, _ = w.Write(sent.Body())
	})
	err := client.Call(context.Background(), http.MethodGet, "/", nil, nil)
	var got *fault.Error
	if !errors.As(err, &got) {
		t.Fatalf("got %v", err)
	}
	if got.Kind != sent.Kind || got.Sentence != sent.Sentence || got.RetryAfter != sent.RetryAfter ||
		got.Extra["version"] != "3" {
		t.Errorf("got %+v, want %+v", got, sent)
	}
}

func TestFailedPeerIsUnavailable(t *testing.T) {
	t.Parallel()
	failing := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	hanging := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
	}, Timeout(20*time.Millisecond))
	garbled := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{")) })
	for name, client := range map[string]*Client{"failing": failing, "hanging": hanging, "garbled": garbled,
		"absent": newAbsentPeer(t)} {
		var out struct{}
		if err := client.Call(context.Background(), http.MethodGet, "/", nil, &out); !fault.Is(err,
			fault.PeerUnavailable) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// newAbsentPeer returns a client of an address at which no server listens.
func newAbsentPeer(t *testing.T) *Client {
	t.Helper()
	// the system never assigns this port
	return New("absent", "http://127.0.0.1:1", telemetry.Discard(), Timeout(testkit.MaxWait))
}

func TestTimeoutsOpenBreaker(t *testing.T) {
	t.Parallel()
	hanging := serve(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, Timeout(time.Hour))
	for range 100 {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		err := hanging.Call(ctx, http.MethodGet, "/", nil, nil)
		cancel()
		if errors.Is(err, ErrBreakerOpen) {
			return
		}
	}
	t.Error("the peer still gets calls")
}

// If a write may have been carried out, the caller must not get a refusal (semantics.md §7).
func TestLostWriteHasUnknownOutcome(t *testing.T) {
	t.Parallel()
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); _, _ = io.WriteString(w, body) }
	}
	lost := func(w http.ResponseWriter, _ *http.Request) {
		connection, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = connection.Close()
		}
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    fault.Kind
	}{
		"the answer is lost": {lost, fault.OutcomeUnknown},
		"a proxy failed":     {answer(503, "upstream connect error"), fault.OutcomeUnknown},
		"it failed inside": {answer(500, string(fault.New(fault.Internal, "No.").Body())),
			fault.OutcomeUnknown},
		"it does not know itself": {answer(503, string(fault.Unknown(nil).Body())), fault.OutcomeUnknown},
		"it refused in its own word": {answer(503, string(fault.New(fault.PeerUnavailable, "No.").Body())),
			fault.PeerUnavailable},
	} {
		client := serve(t, c.handler)
		if err := client.Call(t.Context(), http.MethodPost, "/", nil, nil); fault.KindOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
		if err := client.Ask(t.Context(), "/", nil, nil); name == "the answer is lost" &&
			fault.KindOf(err) != fault.PeerUnavailable {
			t.Errorf("%s to a question: %v", name, err)
		}
	}
	if err := newAbsentPeer(t).Call(t.Context(), http.MethodDelete, "/", nil, nil); !fault.Is(err, fault.PeerUnavailable) {
		t.Errorf("a call to a peer without a listener: %v", err)
	}
}
