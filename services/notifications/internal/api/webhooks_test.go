package api_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/notifications/internal/webhook"
)

// A repeated request gets the same secret, although only the row of the endpoint contains the secret.
func TestIdempotencyResultsContainNoSecret(t *testing.T) {
	t.Parallel()
	p := newFixture(t, nil)
	withKey := func(key string) context.Context {
		return idempotency.With(t.Context(), idempotency.Request{Key: key})
	}
	create := func() (*notifications.SecretWebhook, error) {
		return p.client.CreateWebhook(withKey("create"), p.business,
			notifications.NewWebhook{URL: "http://127.0.0.1:9/hook", Events: []string{webhook.AllEvents}})
	}
	var first *notifications.SecretWebhook
	for try := range 2 {
		created, err := create()
		if err != nil || !strings.HasPrefix(created.Secret, "whsec_") || first != nil &&
			(created.ID != first.ID || created.Secret != first.Secret || !created.CreatedAt.Equal(first.CreatedAt)) {
			t.Fatalf("try %d: %+v, %v, first %+v", try, created, err, first)
		}
		first = created
	}
	rotate := func(key string) *notifications.SecretWebhook {
		t.Helper()
		var shown *notifications.SecretWebhook
		for try := range 2 {
			created, err := p.client.RotateWebhook(withKey(key), p.business, first.ID)
			if err != nil || created.Secret == first.Secret || shown != nil && created.Secret != shown.Secret {
				t.Fatalf("rotated by %s, try %d: %+v, %v", key, try, created, err)
			}
			shown = created
		}
		return shown
	}
	second := rotate("one")
	if created, err := create(); err != nil || created.Secret != first.Secret {
		t.Errorf("created, repeated while both secrets sign: %+v, %v", created, err)
	}
	third := rotate("two")
	if _, err := create(); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "replaced") {
		t.Errorf("a repeated creation after the secret was replaced: %v", err)
	}
	for _, created := range []*notifications.SecretWebhook{first, second, third} {
		secret := strings.TrimPrefix(created.Secret, "whsec_")
		if n := p.count(`SELECT count(*) FROM made_writes WHERE strpos(convert_from(answer, 'UTF8'), '` + secret +
			`') > 0`); n != 0 {
			t.Error("an idempotency result contains a secret")
		}
	}
	if n := p.count(`SELECT count(*) FROM made_writes`); n != 3 {
		t.Errorf("%d idempotency results, want 3", n)
	}
	if err := p.client.DeleteWebhook(t.Context(), p.business, first.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := p.client.RotateWebhook(withKey("two"), p.business, first.ID); !fault.Is(err, fault.NotFound) {
		t.Errorf("rotated, repeated after the endpoint is deleted: %v", err)
	}
	if _, err := p.client.RotateWebhook(t.Context(), p.business, uuid.New()); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown endpoint: %v", err)
	}
}
