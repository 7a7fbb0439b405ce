package oidc_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	provider "github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"

	"github.com/slotmesh/slotmesh/services/console/internal/identity/oidc"
)

// issuer is a fake OpenID provider whose next ID token has the claims in `claims`.
type issuer struct {
	*httptest.Server
	key    *rsa.PrivateKey
	claims map[string]any
}

func startIssuer(t *testing.T) *issuer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	known := &oidctest.Server{PublicKeys: []oidctest.PublicKey{{PublicKey: key.Public(), KeyID: "k",
		Algorithm: provider.RS256}}}
	i := &issuer{key: key}
	mux := http.NewServeMux()
	mux.Handle("/", known)
	mux.HandleFunc("/token", func(w http.ResponseWriter, _ *http.Request) {
		claims, _ := json.Marshal(i.claims)
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"access_token": "a", "token_type": "Bearer", "id_token": oidctest.SignIDToken(i.key, "k", provider.RS256,
				string(claims)),
		})
	})
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	known.SetIssuer(i.URL)
	return i
}

// TestFinishRejectsTokensForOtherClients checks the rules of OpenID Connect Core 3.1.3.7 about the audience (aud) and
// the authorized party (azp) of an ID token.
func TestFinishRejectsTokensForOtherClients(t *testing.T) {
	t.Parallel()
	i := startIssuer(t)
	p := oidc.New(oidc.Config{Issuer: i.URL, ClientID: "slotmesh", ClientSecret: "s",
		TrustedAudiences: []string{"ours"}}, "https://owner.example.com/back", time.Minute)
	t.Cleanup(p.Close)
	for name, of := range map[string]struct {
		audience any
		party    string
		good     bool
	}{
		"alone":                             {"slotmesh", "", true},
		"alone, to us":                      {"slotmesh", "slotmesh", true},
		"alone, to another":                 {"slotmesh", "other", false},
		"of another":                        {"other", "", false},
		"of another, to us":                 {"other", "slotmesh", false},
		"several, to nobody":                {[]string{"slotmesh", "ours"}, "", false},
		"several, to us":                    {[]string{"slotmesh", "ours"}, "slotmesh", true},
		"several, to another that we trust": {[]string{"slotmesh", "ours"}, "ours", false},
		"one that is not trusted, to us":    {[]string{"slotmesh", "other"}, "slotmesh", false},
		"without us":                        {[]string{"ours"}, "slotmesh", false},
		"none":                              {[]string{}, "", false},
	} {
		_, attempt, err := p.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		i.claims = map[string]any{
			"iss": i.URL, "sub": "1", "aud": of.audience, "nonce": attempt.Nonce,
			"exp": time.Now().Add(time.Hour).Unix(), "email": "ana@example.com", "email_verified": true,
		}
		if of.party != "" {
			i.claims["azp"] = of.party
		}
		claims, err := p.Finish(t.Context(), attempt, attempt.State, "code")
		if of.good && (err != nil || claims.Email != "ana@example.com") || !of.good &&
			!errors.Is(err, oidc.ErrRefused) {
			t.Errorf("%s: %+v, %v", name, claims, err)
		}
	}
}

// TestBeginSharesOneDiscovery shows that concurrent sign-ins share one discovery request. A visitor who leaves gets an
// error at once, and a failed discovery is repeated by the next visitor.
func TestBeginSharesOneDiscovery(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	arrived, release := make(chan struct{}, 10), make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		arrived <- struct{}{}
		<-release
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(silent.Close)
	p := oidc.New(oidc.Config{Issuer: silent.URL, ClientID: "slotmesh", ClientSecret: "s"},
		"https://owner.example.com/back", time.Minute)
	t.Cleanup(p.Close)
	answers := make(chan error, 3)
	begin := func(ctx context.Context) {
		_, _, err := p.Begin(ctx)
		answers <- err
	}
	go begin(t.Context())
	<-arrived
	gone, leave := context.WithCancel(t.Context())
	leave()
	begin(gone)
	if err := <-answers; !errors.Is(err, oidc.ErrUnavailable) || asked.Load() != 1 {
		t.Errorf("a visitor who has left got %v after %d discoveries", err, asked.Load())
	}
	close(release)
	if err := <-answers; !errors.Is(err, oidc.ErrUnavailable) {
		t.Errorf("the first visitor got %v", err)
	}
	begin(t.Context())
	if err := <-answers; !errors.Is(err, oidc.ErrUnavailable) || asked.Load() != 2 {
		t.Errorf("after a failure: %v, %d discoveries", err, asked.Load())
	}
}
