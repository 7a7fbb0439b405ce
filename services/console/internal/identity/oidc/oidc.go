// Package oidc signs people in by an OpenID Connect provider (accounts.md), with the library go-oidc. It uses the
// authorization code flow with PKCE, state and nonce.
package oidc

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	provider "github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/slotmesh/slotmesh/libs/platform/bulkhead"
)

// Config has the settings of the provider. Without an issuer there is no provider.
type Config struct {
	// Issuer is the provider's base URL, as its discovery document names it.
	Issuer string `env:"OIDC_ISSUER"`
	// ClientID and ClientSecret identify Slotmesh at the provider.
	ClientID     string `env:"OIDC_CLIENT_ID"`
	ClientSecret string `env:"OIDC_CLIENT_SECRET"`
	// OperatorGroup is a group of the provider, in the claim groups. Its members become operators of this installation
	// when they sign in. If it is empty, signing in does not change who is an operator.
	OperatorGroup string `env:"OIDC_OPERATOR_GROUP"`
	// TrustedAudiences are the client ids, besides that of Slotmesh, that may be among the audiences of an ID token.
	TrustedAudiences []string `env:"OIDC_TRUSTED_AUDIENCES"`
	// Name is the name of the provider on the button that leads to it.
	Name string `env:"OIDC_NAME"`
}

// Enabled reports whether there is a provider.
func (c *Config) Enabled() bool { return c.Issuer != "" }

// Validate checks the settings together. Each error names its variable and contains no secret.
func (c *Config) Validate() error {
	if !c.Enabled() {
		if c.ClientID+c.ClientSecret+c.OperatorGroup+strings.Join(c.TrustedAudiences, "") != "" {
			return errors.New("OIDC_ISSUER: write the provider's base URL, or leave out the other settings that " +
				"begin with OIDC_")
		}
		return nil
	}
	var errs []error
	u, err := url.Parse(c.Issuer)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !loopback(u.Hostname())) {
		errs = append(errs, errors.New("OIDC_ISSUER: write the provider's base URL, by https, such as "+
			"https://login.example.com/realms/team"))
	}
	if c.ClientID == "" {
		errs = append(errs, errors.New("OIDC_CLIENT_ID: write what the provider calls Slotmesh"))
	}
	if c.ClientSecret == "" {
		errs = append(errs, errors.New("OIDC_CLIENT_SECRET: write the secret that the provider gave Slotmesh"))
	}
	return errors.Join(errs...)
}

func loopback(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || host == "::1"
}

// anyName is the name of the provider if none is set.
const anyName = "OpenID Connect"

// Limits of a request to the provider: its time, and the bytes of the answer.
const (
	within    = 8 * time.Second
	mostBytes = 1 << 20
)

// The errors of a failed sign-in.
var (
	// ErrRefused means that the provider did not confirm the person's identity, or that its answer belongs to another
	// browser's request.
	ErrRefused = errors.New("the provider's answer is not good")
	// ErrUnverified means that the provider has not verified the owner of the e-mail address.
	ErrUnverified = errors.New("the provider has not verified the e-mail address")
	// ErrAway means that the provider does not answer.
	ErrAway = errors.New("the provider does not answer")
)

// Attempt has the random values of one sign-in. The browser keeps them in a cookie, from its redirect to the provider
// until it returns.
type Attempt struct{ State, Nonce, Verifier string }

// String returns the attempt as the value of a cookie.
func (a Attempt) String() string { return a.State + "." + a.Nonce + "." + a.Verifier }

// ParseAttempt parses the text of [Attempt.String]. It reports whether the text is valid.
func ParseAttempt(text string) (Attempt, bool) {
	parts := strings.Split(text, ".")
	if len(parts) != 3 || slices.Contains(parts, "") || len(text) > 300 {
		return Attempt{}, false
	}
	return Attempt{State: parts[0], Nonce: parts[1], Verifier: parts[2]}, true
}

// Identity is a person whose identity the provider has confirmed. Operator is nil if no [Config.OperatorGroup] is set,
// so that the provider does not decide who is an operator.
type Identity struct {
	Email, Name string
	Operator    *bool
}

// Provider signs people in by the identity provider. It reads the provider's discovery document at the first sign-in,
// so that console starts even if the provider is unavailable.
type Provider struct {
	cfg      Config
	callback string
	client   *http.Client

	discoveries bulkhead.Shared[*provider.Provider]
	known       atomic.Pointer[provider.Provider]
}

// New returns a client of the provider. callback is the URL to which the provider sends browsers back. The timeout of a
// request to the provider is the larger of [within] and peerTimeout.
func New(cfg Config, callback string, peerTimeout time.Duration) *Provider {
	return &Provider{cfg: cfg, callback: callback, client: &http.Client{Timeout: max(within, peerTimeout),
		Transport: bounded{&http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}}}}
}

// Name returns the provider's display name, which the sign-in page shows.
func (p *Provider) Name() string {
	if p.cfg.Name == "" {
		return anyName
	}
	return p.cfg.Name
}

// Close closes the idle connections.
func (p *Provider) Close() { p.client.CloseIdleConnections() }

// open returns the provider and its OAuth endpoints. The first call reads the discovery document. Concurrent calls
// share the result of that request. If it fails, the next call tries again.
func (p *Provider) open(ctx context.Context) (*provider.Provider, *oauth2.Config, error) {
	known := p.known.Load()
	if known == nil {
		ctx, cancel := context.WithTimeout(ctx, p.client.Timeout)
		defer cancel()
		var err error
		if known, err = p.discoveries.Do(ctx, p.cfg.Issuer, p.discover); err != nil {
			return nil, nil, fmt.Errorf("%w: %w", ErrAway, err)
		}
	}
	return known, &oauth2.Config{
		ClientID: p.cfg.ClientID, ClientSecret: p.cfg.ClientSecret, Endpoint: known.Endpoint(), RedirectURL: p.callback,
		Scopes: p.scopes(),
	}, nil
}

// discover reads the provider's discovery document.
func (p *Provider) discover(ctx context.Context) (*provider.Provider, error) {
	// The provider's keys are read later with the client of this context, so the context must not end.
	known, err := provider.NewProvider(provider.ClientContext(context.WithoutCancel(ctx), p.client), p.cfg.Issuer)
	if err == nil {
		p.known.Store(known)
	}
	return known, err
}

func (p *Provider) scopes() []string {
	scopes := []string{provider.ScopeOpenID, "email", "profile"}
	if p.cfg.OperatorGroup != "" {
		scopes = append(scopes, "groups")
	}
	return scopes
}

// Begin begins a sign-in. It returns the URL of the provider to which the browser is redirected, and the attempt, which
// the browser keeps until it returns. Errors: [ErrAway].
func (p *Provider) Begin(ctx context.Context) (string, Attempt, error) {
	_, flow, err := p.open(ctx)
	if err != nil {
		return "", Attempt{}, err
	}
	a := Attempt{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier()}
	return flow.AuthCodeURL(a.State, provider.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), a, nil
}

// Finish completes a sign-in. It checks the state and the code with which the browser has returned, and returns the
// person whose identity the provider confirms. Errors: [ErrRefused], [ErrUnverified], [ErrAway].
func (p *Provider) Finish(ctx context.Context, a Attempt, state, code string) (Identity, error) {
	if subtle.ConstantTimeCompare([]byte(a.State), []byte(state)) != 1 || code == "" {
		return Identity{}, ErrRefused
	}
	known, flow, err := p.open(ctx)
	if err != nil {
		return Identity{}, err
	}
	token, err := flow.Exchange(provider.ClientContext(ctx, p.client), code, oauth2.VerifierOption(a.Verifier))
	var refusal *oauth2.RetrieveError
	if errors.As(err, &refusal) && refusal.Response != nil && refusal.Response.StatusCode < 500 {
		return Identity{}, ErrRefused // the error is hidden, because its text may repeat what was sent
	}
	if err != nil {
		return Identity{}, ErrAway
	}
	raw, _ := token.Extra("id_token").(string)
	said, err := known.Verifier(&provider.Config{ClientID: p.cfg.ClientID}).Verify(provider.ClientContext(ctx,
		p.client), raw)
	if err != nil || subtle.ConstantTimeCompare([]byte(said.Nonce), []byte(a.Nonce)) != 1 {
		return Identity{}, ErrRefused
	}
	return p.identity(said)
}

func (p *Provider) identity(said *provider.IDToken) (Identity, error) {
	var claims struct {
		Email    string   `json:"email"`
		Verified bool     `json:"email_verified"`
		Name     string   `json:"name"`
		Groups   []string `json:"groups"`
		Party    string   `json:"azp"`
	}
	if err := said.Claims(&claims); err != nil || claims.Email == "" || !p.isMeant(said.Audience, claims.Party) {
		return Identity{}, ErrRefused
	}
	if !claims.Verified {
		return Identity{}, ErrUnverified
	}
	who := Identity{Email: claims.Email, Name: claims.Name}
	if p.cfg.OperatorGroup != "" {
		operator := slices.Contains(claims.Groups, p.cfg.OperatorGroup)
		who.Operator = &operator
	}
	return who, nil
}

// isMeant reports whether an ID token was issued for Slotmesh (OpenID Connect Core 3.1.3.7, 3 to 5). Slotmesh must be
// in audience, and all others in it must be trusted. party, the authorized party (azp), must be Slotmesh; it may be
// empty if there is only one audience.
func (p *Provider) isMeant(audience []string, party string) bool {
	if party != p.cfg.ClientID && (party != "" || len(audience) > 1) {
		return false
	}
	trusted := func(one string) bool { return one == p.cfg.ClientID || slices.Contains(p.cfg.TrustedAudiences, one) }
	return slices.Contains(audience, p.cfg.ClientID) && !slices.ContainsFunc(audience, func(one string) bool {
		return !trusted(one)
	})
}

// bounded limits every answer to mostBytes.
type bounded struct{ *http.Transport }

// RoundTrip implements http.RoundTripper.
func (b bounded) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.Transport.RoundTrip(r)
	if err == nil {
		answer.Body = http.MaxBytesReader(nil, answer.Body, mostBytes)
	}
	return answer, err
}
