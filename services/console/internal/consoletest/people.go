package consoletest

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/postgres"
	"github.com/slotmesh/slotmesh/libs/telemetry"
	"github.com/slotmesh/slotmesh/services/console/internal/access"
	"github.com/slotmesh/slotmesh/services/console/internal/secret"
	"github.com/slotmesh/slotmesh/services/console/internal/store"
)

func (w *World) openStore(t *testing.T, cfg postgres.Config) {
	t.Helper()
	pool, err := postgres.Open(t.Context(), cfg, "console", telemetry.Discard())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	w.Store = store.New(pool)
}

// TokenOf makes a token of the admin API, and returns it in clear.
func (w *World) TokenOf(t *testing.T, m access.Member) string {
	t.Helper()
	return w.addToken(t, m, nil)
}

// TokenUntil makes a token of an operator that expires.
func (w *World) TokenUntil(t *testing.T, expires time.Time) string {
	t.Helper()
	return w.addToken(t, access.Member{Role: access.Operator}, &expires)
}

func (w *World) addToken(t *testing.T, m access.Member, expires *time.Time) string {
	t.Helper()
	clear, hash := secret.New(secret.TokenPrefix)
	token := store.Token{Member: m, ID: uuid.New(), Name: string(m.Role), Prefix: secret.Shown(clear), CreatedAt: time.Now(), ExpiresAt: expires}
	if err := w.Store.AddToken(t.Context(), token, hash); err != nil {
		t.Fatal(err)
	}
	return clear
}

// CallAs sends a request with another token.
func (w *World) CallAs(t *testing.T, token, method, path, body string, header ...string) Answer {
	t.Helper()
	return w.Call(t, method, path, body, append([]string{"Authorization", "Bearer " + token}, header...)...)
}
