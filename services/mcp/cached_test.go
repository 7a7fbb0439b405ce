package mcp_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// TestPagesOfListShareOneRead shows that the service reads a list once for all its pages, and again only
// after the list has changed.
func TestPagesOfListShareOneRead(t *testing.T) {
	t.Parallel()
	n := newPeers()
	var version, sent atomic.Int64
	n.answers["GET /internal/api/public/harbor/services"] = http.HandlerFunc(func(w http.ResponseWriter,
		r *http.Request) {
		tag := fmt.Sprintf(`"%d"`, version.Load())
		w.Header().Set("ETag", tag)
		if r.Header.Get("If-None-Match") == tag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		sent.Add(1)
		var list []string
		for i := range 300 {
			list = append(list,
				fmt.Sprintf(`{"id":"%s","name":"Cut %d of version %d","description":"%s","price":40.00,"quoted_price":null,"variants":[]}`,
					cutID, i, version.Load(), strings.Repeat("A text. ", 20)))
		}
		_, _ = fmt.Fprintf(w, `{"services":[%s],"currency":"EUR","quote":{"date":"2027-03-01","applies_pricing_rules":false,"basis":"List prices."}}`, strings.Join(list, ","))
	})
	address := startServer(t, n)
	page := func(offset int, want string) {
		t.Helper()
		got := call(t, address, "read", "list_services", map[string]any{"offset": offset})
		if got.IsError || !strings.Contains(got.Content[0].Text, want) {
			t.Errorf("from %d: %.300v", offset, got)
		}
	}
	for offset := 0; offset < 50; offset += 10 {
		page(offset, fmt.Sprintf("Cut %d of version 0", offset))
	}
	if sent.Load() != 1 {
		t.Errorf("the list was sent %d times for five pages", sent.Load())
	}
	version.Add(1)
	page(10, "Cut 10 of version 1")
	page(20, "Cut 20 of version 1")
	if sent.Load() != 2 {
		t.Errorf("the list was sent %d times for two versions", sent.Load())
	}
}
