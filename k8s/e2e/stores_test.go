package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// checkPostgresLoss removes PostgreSQL's pod, checks the answers without it, and starts it again.
func (c cluster) checkPostgresLoss(t *testing.T, f frontClient) {
	l := newLoad(t, c, f, "without-postgres")
	c.readFromAllPods(t, "catalog", l.slug+"/info")
	c.runWithout(t, "statefulset/"+release+"-postgres", func() {
		// A replica still serves the offers that it has cached. Occupied time is unknown, which does not mean that all
		// is occupied.
		for _, path := range []string{"/info", "/services", "/staff"} {
			var any map[string]any
			if err := f.readJSON(t.Context(), l.slug+path, &any); err != nil {
				t.Error(err)
			}
		}
		waitFor(t, "slots that are not computed", func() error {
			var found struct {
				Computed *bool
				Slots    []any
			}
			if err := f.readJSON(t.Context(), l.slug+"/slots?date="+l.freeSlots[0].date+"&service_id="+
				l.freeSlots[0].service,
				&found); err != nil {
				return err
			}
			if found.Computed == nil || *found.Computed || len(found.Slots) != 0 {
				return fmt.Errorf("got %+v", found)
			}
			return nil
		})
		a, err := f.book(t.Context(), l.slug, l.keys[0], l.freeSlots[0])
		if err != nil || a.status != http.StatusServiceUnavailable {
			t.Errorf("a booking without Postgres was answered %v (%v), want 503", a, err)
		}
	})
	l.waitForBooking(t, l.freeSlots[0])
	if rows := c.connectOwner(t).listBookings(t, l.slug); len(rows) != 1 {
		t.Errorf("the owner sees %d bookings, want the one that was made after Postgres was back", len(rows))
	}
}

// checkRedisLoss removes Redis's pod. Redis stores no sales, so reads and bookings must continue.
func (c cluster) checkRedisLoss(t *testing.T, f frontClient) {
	l := newLoad(t, c, f, "without-redis")
	c.runWithout(t, "deployment/"+release+"-redis", func() {
		for _, path := range []string{"/info", "/services", "/slots?date=" + l.freeSlots[0].date + "&service_id=" +
			l.freeSlots[0].service} {
			var body struct{ Computed *bool }
			if err := f.readJSON(t.Context(), l.slug+path, &body); err != nil {
				t.Error(err)
			} else if body.Computed != nil && !*body.Computed {
				t.Errorf("%s: not computed", path)
			}
		}
		l.waitForBooking(t, l.freeSlots[0])
	})
	l.waitForBooking(t, l.freeSlots[1])
}

// readFromAllPods reads a public path from every pod of a service, through the API server's proxy.
func (c cluster) readFromAllPods(t *testing.T, service, path string) {
	t.Helper()
	for _, p := range c.listPods(t) {
		if p.findComponent() == service {
			c.kubectl(t, "get", "--raw", "/api/v1/namespaces/"+namespace+"/pods/"+p.Metadata.Name+
				":8080/proxy/api/public/"+path)
		}
	}
}

// runWithout scales a store to zero while work runs. Afterwards it also deletes the store's pod once, which Kubernetes
// then replaces.
func (c cluster) runWithout(t *testing.T, store string, work func()) {
	t.Helper()
	c.kubectl(t, "scale", store, "--replicas=0", "--timeout=2m")
	c.kubectl(t, "wait", "--for=delete", "pod", "--selector", "app.kubernetes.io/component="+findStoreComponent(store),
		"--timeout=2m")
	restored := false
	restore := func() {
		if !restored {
			restored = true
			c.kubectl(t, "scale", store, "--replicas=1")
			c.awaitRollout(t)
		}
	}
	defer restore()
	work()
	restore()
	// Kubernetes replaces a deleted pod.
	c.kubectl(t, "delete", "pod", "--selector", "app.kubernetes.io/component="+findStoreComponent(store),
		"--timeout=2m")
	c.awaitRollout(t)
}

// findStoreComponent returns the last word of a store's name.
func findStoreComponent(store string) string { return store[strings.LastIndex(store, "-")+1:] }

// waitForBooking retries until a booking succeeds.
func (l *load) waitForBooking(t *testing.T, b booking) {
	t.Helper()
	waitFor(t, "a booking", func() error {
		a, err := l.front.book(t.Context(), l.slug, l.keys[0], b)
		if err != nil {
			return err
		}
		if a.status != http.StatusCreated {
			return errors.New(a.String())
		}
		return nil
	})
}
