package command

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/slotmesh/slotmesh/libs/contracts/adminapi"
)

func TestWriteRetriesWithSameKey(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		first http.HandlerFunc
		sent  int
	}{
		"unavailable": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(`{"error": "Try again.", "messageCode": "outcome_unknown"}`))
		}, 2},
		"connection lost": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 2},
		"refused": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusConflict)
			_, _ = w.Write([]byte(`{"error": "Sold out.", "messageCode": "conflict"}`))
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var keys []string
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				keys = append(keys, r.Header.Get("Idempotency-Key"))
				first := len(keys) == 1
				mu.Unlock()
				if first {
					c.first(w, r)
				}
			}))
			t.Cleanup(server.Close)
			client := &client{&adminapi.Client{Base: server.URL, HTTP: server.Client(), Attempts: attempts}}
			err := client.call(t.Context(), http.MethodPost, "/", map[string]int{"quantity": 1}, nil)
			if (err == nil) != (c.sent == 2) || len(keys) != c.sent || keys[0] == "" || keys[len(keys)-1] != keys[0] {
				t.Errorf("got %v after requests with the keys %q", err, keys)
			}
		})
	}
}
