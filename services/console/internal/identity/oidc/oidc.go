// Package oidc signs people in by an OpenID Connect provider (accounts.md). It uses the go-oidc library and the
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

// Config has the settings of the provider. If Issuer is empty, there is no provider.
type Config struct {
	// Issuer is the base URL of the provider. It must be equal to the issuer in the provider's discovery document.
	Issuer string `env:"OIDC_ISSUER"`
	// ClientID and ClientSecret identify Slotmesh at the provider.
	ClientID     string `env:"OIDC_CLIENT_ID"`
	ClientSecret string `env:"OIDC_CLIENT_SECRET" secret:"true"`
	// OperatorGroup is the name of a group in the claim `groups` of the provider's ID tokens. The members of the group
	// become operators of this installation when they sign in. If OperatorGroup is empty, a sign-in does not change who
	// is an operator.
	OperatorGroup string `env:"OIDC_OPERATOR_GROUP"`
	// TrustedAudiences are client ids of other applications at the provider. An ID token for Slotmesh may also name
	// these applications as audiences.
	TrustedAudiences []string `env:"OIDC_TRUSTED_AUDIENCES"`
	// Name is the provider's name on the sign-in button.
	Name string `env:"OIDC_NAME"`
}

// IsEnabled reports whether a provider is configured.
func (c *Config) IsEnabled() bool { return c.Issuer != "" }

// Validate returns the errors of the settings, in one error. Each error names its environment variable and contains no
// secret.
func (c *Config) Validate() error {
	if !c.IsEnabled() {
		if c.ClientID+c.ClientSecret+c.OperatorGroup+strings.Join(c.TrustedAudiences, "") != "" {
			return errors.New("OIDC_ISSUER: write the provider's base URL, or leave out the other settings that " +
				"begin with OIDC_")
		}
		return nil
	}
	var errs []error
	u, err := url.Parse(c.Issuer)
	if err != nil || u.Host == "" || u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
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

func isLoopback(host string) bool {
	return host == "localhost" || host == "127.0.0.1" || host == "::1"
}

// defaultName is the name of the provider on the sign-in page if [Config.Name] is empty.
const defaultName = "OpenID Connect"

// Limits of requests to the provider: requestTimeout is the minimum timeout of a request, and maxResponseBytes is the
// maximum size of an answer, in bytes.
const (
	requestTimeout   = 8 * time.Second
	maxResponseBytes = 1 << 20
)

// The errors of a failed sign-in.
var (
	// ErrRefused means that the provider did not confirm the person's identity. It also means that the provider's
	// answer is invalid, or belongs to a sign-in that another browser began.
	ErrRefused = errors.New("the provider's answer is not good")
	// ErrUnverified means that the provider has not verified that the person owns the e-mail address.
	ErrUnverified = errors.New("the provider has not verified the e-mail address")
	// ErrUnavailable means that the provider does not answer, or answers with a server error.
	ErrUnavailable = errors.New("the provider does not answer")
)

// Attempt has the random values of one sign-in. The browser keeps these values in a cookie, until the provider
// redirects the browser back.
type Attempt struct{ State, Nonce, Verifier string }

// String returns the attempt as text, for the cookie.
func (a Attempt) String() string { return a.State + "." + a.Nonce + "." + a.Verifier }

// ParseAttempt parses the text of [Attempt.String]. It returns false if the text is invalid.
func ParseAttempt(text string) (Attempt, bool) {
	parts := strings.Split(text, ".")
	if len(parts) != 3 || slices.Contains(parts, "") || len(text) > 300 {
		return Attempt{}, false
	}
	return Attempt{State: parts[0], Nonce: parts[1], Verifier: parts[2]}, true
}

// Identity is a person whose identity the provider has confirmed. IsOperator points to true if the person is a member
// of the group [Config.OperatorGroup]. IsOperator is nil if no such group is configured, because then the provider does
// not decide who is an operator.
type Identity struct {
	Email, Name string
	IsOperator  *bool
}

// Provider is the client of the identity provider with which people sign in. It reads the provider's discovery document
// at the first sign-in, so that console starts even if the provider is unavailable.
type Provider struct {
	cfg      Config
	callback string
	client   *http.Client

	discoveries   bulkhead.Shared[*provider.Provider]
	knownProvider atomic.Pointer[provider.Provider]
}

// New returns a client of the provider. The argument `callback` is the URL to which the provider redirects browsers
// after the sign-in. The timeout of a request to the provider is [requestTimeout] or `peerTimeout`, whichever is
// longer.
func New(cfg Config, callback string, peerTimeout time.Duration) *Provider {
	return &Provider{cfg: cfg, callback: callback, client: &http.Client{Timeout: max(requestTimeout, peerTimeout),
		Transport: boundedTransport{&http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}}}}
}

// Name returns the name of the provider, which the sign-in page shows.
func (p *Provider) Name() string {
	if p.cfg.Name == "" {
		return defaultName
	}
	return p.cfg.Name
}

// Close closes the idle connections to the provider.
func (p *Provider) Close() { p.client.CloseIdleConnections() }

// open returns the provider and the configuration of the OAuth flow. The first call reads the discovery document.
// Concurrent calls share the result of one request. If this request fails, the next call sends another request.
func (p *Provider) open(ctx context.Context) (*provider.Provider, *oauth2.Config, error) {
	known := p.knownProvider.Load()
	if known == nil {
		ctx, cancel := context.WithTimeout(ctx, p.client.Timeout)
		defer cancel()
		var err error
		if known, err = p.discoveries.Do(ctx, p.cfg.Issuer, p.discover); err != nil {
			return nil, nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
	}
	return known, &oauth2.Config{
		ClientID: p.cfg.ClientID, ClientSecret: p.cfg.ClientSecret, Endpoint: known.Endpoint(), RedirectURL: p.callback,
		Scopes: p.scopes(),
	}, nil
}

// discover reads the provider's discovery document and stores the result in p.knownProvider.
func (p *Provider) discover(ctx context.Context) (*provider.Provider, error) {
	// The result uses this context later to read the provider's keys. So the context must not end.
	known, err := provider.NewProvider(provider.ClientContext(context.WithoutCancel(ctx), p.client), p.cfg.Issuer)
	if err == nil {
		p.knownProvider.Store(known)
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

// Begin begins a sign-in. It returns the URL of the provider to which the caller redirects the browser, and the random
// values of the sign-in (the attempt). The browser keeps the attempt until the provider redirects the browser back.
// Errors: [ErrUnavailable].
func (p *Provider) Begin(ctx context.Context) (string, Attempt, error) {
	_, flow, err := p.open(ctx)
	if err != nil {
		return "", Attempt{}, err
	}
	a := Attempt{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier()}
	return flow.AuthCodeURL(a.State, provider.Nonce(a.Nonce), oauth2.S256ChallengeOption(a.Verifier)), a, nil
}

// Finish completes a sign-in. The arguments `state` and `code` are the parameters with which the provider redirected
// the browser back. Finish checks these parameters, and returns the person whose identity the provider confirms.
// Errors: [ErrRefused], [ErrUnverified], [ErrUnavailable].
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
		return Identity{}, ErrRefused // hides the provider's error, because its text may repeat secrets of the request
	}
	if err != nil {
		return Identity{}, ErrUnavailable
	}
	raw, _ := token.Extra("id_token").(string)
	idToken, err := known.Verifier(&provider.Config{ClientID: p.cfg.ClientID}).Verify(provider.ClientContext(ctx,
		p.client), raw)
	if err != nil || subtle.ConstantTimeCompare([]byte(idToken.Nonce), []byte(a.Nonce)) != 1 {
		return Identity{}, ErrRefused
	}
	return p.readIdentity(idToken)
}

func (p *Provider) readIdentity(idToken *provider.IDToken) (Identity, error) {
	var claims struct {
		Email    string   `json:"email"`
		Verified bool     `json:"email_verified"`
		Name     string   `json:"name"`
		Groups   []string `json:"groups"`
		Party    string   `json:"azp"`
	}
	if err := idToken.Claims(&claims); err != nil || claims.Email == "" || !p.isForClient(idToken.Audience,
		claims.Party) {
		return Identity{}, ErrRefused
	}
	if !claims.Verified {
		return Identity{}, ErrUnverified
	}
	who := Identity{Email: claims.Email, Name: claims.Name}
	if p.cfg.OperatorGroup != "" {
		operator := slices.Contains(claims.Groups, p.cfg.OperatorGroup)
		who.IsOperator = &operator
	}
	return who, nil
}

// isForClient reports whether an ID token was issued for Slotmesh (OpenID Connect Core 3.1.3.7, 3 to 5). Slotmesh must
// be one of the audiences, and all other audiences must be trusted. The argument `party` is the authorized party (azp).
// The authorized party must be Slotmesh. It may be empty if the token has only one audience.
func (p *Provider) isForClient(audience []string, party string) bool {
	if party != p.cfg.ClientID && (party != "" || len(audience) > 1) {
		return false
	}
	trusted := func(one string) bool { return one == p.cfg.ClientID || slices.Contains(p.cfg.TrustedAudiences, one) }
	return slices.Contains(audience, p.cfg.ClientID) && !slices.ContainsFunc(audience, func(one string) bool {
		return !trusted(one)
	})
}

// boundedTransport is an HTTP transport that limits the size of every answer to maxResponseBytes.
type boundedTransport struct{ *http.Transport }

// RoundTrip implements http.RoundTripper.
func (b boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := b.Transport.RoundTrip(r)
	if err == nil {
		answer.Body = http.MaxBytesReader(nil, answer.Body, maxResponseBytes)
	}
	return answer, err
}
