package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// losePostgres holds Postgres away, looks at what the interface says of that, and gives it back.
func (c cluster) losePostgres(t *testing.T, f front) {
	l := newLoad(t, c, f, "without-postgres")
	c.readByAll(t, "catalog", l.slug+"/info")
	c.without(t, "statefulset/"+release+"-postgres", func() {
		// What a replica has read before is offered on; which times are taken is unknown, and unknown is not full.
		for _, path := range []string{"/info", "/services", "/staff"} {
			var any map[string]any
			if err := f.read(t.Context(), l.slug+path, &any); err != nil {
				t.Error(err)
			}
		}
		soon(t, "slots that are not computed", func() error {
			var found struct {
				Computed *bool
				Slots    []any
			}
			if err := f.read(t.Context(), l.slug+"/slots?date="+l.free[0].date+"&service_id="+l.free[0].service,
				&found); err != nil {
				return err
			}
			if found.Computed == nil || *found.Computed || len(found.Slots) != 0 {
				return fmt.Errorf("got %+v", found)
			}
			return nil
		})
		a, err := f.book(t.Context(), l.slug, l.keys[0], l.free[0])
		if err != nil || a.status != http.StatusServiceUnavailable {
			t.Errorf("a booking without Postgres was answered %v (%v), want 503", a, err)
		}
	})
	l.booksAgain(t, l.free[0])
	if rows := c.owner(t).booked(t, l.slug); len(rows) != 1 {
		t.Errorf("the owner sees %d bookings, want the one that was made after Postgres was back", len(rows))
	}
}

// loseRedis holds Redis away: it keeps nothing that is sold, so that everything goes on without it.
func (c cluster) loseRedis(t *testing.T, f front) {
	l := newLoad(t, c, f, "without-redis")
	c.without(t, "deployment/"+release+"-redis", func() {
		for _, path := range []string{"/info", "/services", "/slots?date=" + l.free[0].date + "&service_id=" +
			l.free[0].service} {
			var body struct{ Computed *bool }
			if err := f.read(t.Context(), l.slug+path, &body); err != nil {
				t.Error(err)
			} else if body.Computed != nil && !*body.Computed {
				t.Errorf("%s: not computed", path)
			}
		}
		l.booksAgain(t, l.free[0])
	})
	l.booksAgain(t, l.free[1])
}

// readByAll reads a public path from every pod of a service, through the cluster's own API.
func (c cluster) readByAll(t *testing.T, service, path string) {
	t.Helper()
	for _, p := range c.pods(t) {
		if p.component() == service {
			c.kubectl(t, "get", "--raw", "/api/v1/namespaces/"+namespace+"/pods/"+p.Metadata.Name+
				":8080/proxy/api/public/"+path)
		}
	}
}

// without takes a store's pod away while work looks at what that does. The pod is deleted and kept from coming back
// until then.
func (c cluster) without(t *testing.T, store string, work func()) {
	t.Helper()
	c.kubectl(t, "scale", store, "--replicas=0", "--timeout=2m")
	c.kubectl(t, "wait", "--for=delete", "pod", "--selector", "app.kubernetes.io/component="+component(store),
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
	// And once as it happens by itself: deleted, with something that brings it back.
	c.kubectl(t, "delete", "pod", "--selector", "app.kubernetes.io/component="+component(store), "--timeout=2m")
	c.awaitRollout(t)
}

// component is the last word of a store's name.
func component(store string) string { return store[strings.LastIndex(store, "-")+1:] }

// booksAgain waits until a booking succeeds.
func (l *load) booksAgain(t *testing.T, b booking) {
	t.Helper()
	soon(t, "a booking", func() error {
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
