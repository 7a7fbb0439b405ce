package catalogclient

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/testkit"
)

// fakeRecords is a fake store. It has the businesses with stored customers, and those whose customers were anonymized.
type fakeRecords struct{ all, anonymized []uuid.UUID }

func (r *fakeRecords) BusinessesToAnonymize(_ context.Context, after uuid.UUID, _ time.Time,
	limit int) ([]uuid.UUID, error) {
	from := slices.Index(r.all, after) + 1
	return r.all[from:min(len(r.all), from+limit)], nil
}

func (r *fakeRecords) AnonymizeEnded(_ context.Context, business uuid.UUID, _ time.Time) (int64, error) {
	r.anonymized = append(r.anonymized, business)
	return 1, nil
}

func TestRetentionContinuesAfterUnreadableBusiness(t *testing.T) {
	t.Parallel()
	unread, last := uuid.New(), uuid.New()
	records := &fakeRecords{all: []uuid.UUID{unread}}
	for len(records.all) < retentionPage {
		records.all = append(records.all, uuid.New()) // removed: catalog has no such business
	}
	records.all = append(records.all, last)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/internal/slugs/" + last.String():
			_ = json.NewEncoder(w).Encode(catalog.SlugOf{Slug: "harbor"})
		case "/internal/offers/harbor":
			_ = json.NewEncoder(w).Encode(catalog.Snapshot{ID: last, Slug: "harbor", Version: 1, Currency: "EUR",
				Timezone: "Europe/Lisbon"})
		case "/internal/slugs/" + unread.String():
			w.WriteHeader(http.StatusInternalServerError)
		default:
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte(`{"error":"Business not found","messageCode":"business_not_found"}`))
		}
	}))
	p := peer.New("catalog", server.URL, telemetry.Discard(), peer.Timeout(testkit.MaxWait))
	t.Cleanup(func() { p.Close(); server.Close() })
	offers := NewClient(p, telemetry.Discard())
	f := NewRetentionJob(p, offers, records, clock.Fixed(time.Unix(0, 0)), telemetry.Discard())
	if err := f.RunOnce(t.Context()); err == nil {
		t.Error("nothing says that one business could not be read")
	}
	if diff := cmp.Diff([]uuid.UUID{last}, records.anonymized); diff != "" {
		t.Errorf("forgotten (-want +got):\n%s", diff)
	}
	if _, isKept := offers.offers.Peek("harbor"); isKept {
		t.Error("the job's reads fill the cache of the requests")
	}
}
