// Package link implements the customer's secret link to a booking, an order of tickets or a reservation
// (lifecycle.md §5). It also implements the secret URL of a calendar feed (lifecycle.md §2). It creates the tokens
// of these URLs, computes the hashes of tokens for the databases, and defines the fault for invalid tokens.
//
// A token is 128 bits, encoded as URL-safe text. The token of a link is derived from a secret and
// the id of the booking, order or reservation. Every message can therefore contain the same link,
// although only the hash of its token is stored. The token of a feed is random. Only the response
// to the request that creates the feed contains the token.
package link

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/config"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Lifetime is the time for which a link stays valid after the end of its booking, order or reservation.
const Lifetime = 30 * 24 * time.Hour

// NewNotFoundFault returns the fault for every invalid token: one that never existed, one that has expired,
// or one of anonymized data. The same fault for all of them hides the reason from the caller.
func NewNotFoundFault() error {
	return fault.New(fault.NotFound, "This link leads nowhere; it may be mistyped, or no longer valid.")
}

// Config holds the settings for links.
type Config struct {
	// Secrets are the secrets from which the tokens of links are derived, the newest first. New links use the first
	// secret. After a secret is removed, its links to bookings still work, but messages and pages can no longer show
	// them. Its links for decisions in mails to owners no longer work.
	Secrets []string `env:"LINK_SECRETS" secret:"true"`
	// PagesURL is the base URL of the pages for customers, such as
	// https://book.example.com. Without it, messages and pages show no links.
	PagesURL string `env:"PAGES_URL"`
}

// Validate checks the values of the settings. Each error names the environment variable of the invalid setting.
func (c *Config) Validate() error {
	var errs []error
	for _, secret := range c.Secrets {
		if err := config.CheckSecret(secret, 32); err != nil {
			errs = append(errs, fmt.Errorf("LINK_SECRETS: %w", err))
			break
		}
	}
	if c.PagesURL != "" && !IsBaseURL(c.PagesURL) {
		errs = append(errs, errors.New("PAGES_URL: write the base of the customers' pages, such as "+
			"https://book.example.com, without a query"))
	}
	return errors.Join(errs...)
}

// IsBaseURL reports whether a text is a base URL: its scheme is http
// or https, it has a host, and it has no user, query or fragment.
func IsBaseURL(text string) bool {
	base, err := url.Parse(text)
	return err == nil && (base.Scheme == "https" || base.Scheme == "http") && base.Host != "" && base.User == nil &&
		base.RawQuery == "" && base.Fragment == ""
}

// Open returns the [Links] for these settings. It returns an error that names LINK_SECRETS if there
// is no secret. Validate accepts settings without a secret, because a database migration needs none.
func (c *Config) Open() (*Links, error) {
	if len(c.Secrets) == 0 {
		return nil, errors.New("LINK_SECRETS: missing; write one of 32 or more random characters, such as `openssl " +
			"rand -hex 32` prints, and keep it")
	}
	return &Links{secrets: c.Secrets, pages: strings.TrimSuffix(c.PagesURL, "/")}, nil
}

// Links computes the URLs of new and of existing links. It is safe for concurrent use.
type Links struct {
	secrets []string
	pages   string
}

// Hash returns the hash that is stored for the link to a new booking, order of tickets or reservation.
func (l *Links) Hash(kind event.SubjectKind, id uuid.UUID) []byte {
	return hash(deriveToken(l.secrets[0], kind, id))
}

// URL returns the link to a booking, an order of tickets or a reservation. The argument
// `storedHash` is the stored hash of its token. URL returns "" if PagesURL is not set, if `storedHash`
// is empty because the data is anonymized, or if the secret of the link was removed.
func (l *Links) URL(kind event.SubjectKind, id uuid.UUID, storedHash []byte) string {
	if l.pages == "" {
		return ""
	}
	token := l.Token(kind, id, storedHash)
	if token == "" {
		return ""
	}
	return l.pages + "/m/" + token
}

// FeedURL returns the URL of the calendar feed with a token. It returns "" if PagesURL is not set.
func (l *Links) FeedURL(token string) string {
	if l.pages == "" {
		return ""
	}
	return l.pages + "/calendar/" + token + ".ics"
}

// SignIn is the kind under which the links of customers' sign-ins are derived. It is not the kind of an event.
const SignIn event.SubjectKind = "customer_sign_in"

// SignInURL returns the mailed one-time link with which a customer signs in to the page with all own bookings at the
// business with the given slug. The argument `storedHash` is the stored hash of its token. SignInURL returns "" in the
// same cases as [Links.URL].
func (l *Links) SignInURL(slug string, id uuid.UUID, storedHash []byte) string {
	token := l.Token(SignIn, id, storedHash)
	if l.pages == "" || token == "" {
		return ""
	}
	return l.pages + "/b/" + slug + "/mine/" + token
}

// Token returns the token of a link. The argument `storedHash` is its stored hash. Token returns ""
// if `storedHash` is empty because the data is anonymized, or if the secret of the link was removed.
func (l *Links) Token(kind event.SubjectKind, id uuid.UUID, storedHash []byte) string {
	for _, secret := range l.secrets {
		if token := deriveToken(secret, kind, id); IsSame(hash(token), storedHash) {
			return token
		}
	}
	return ""
}

const tokenBytes = 16

// tokenEncoding is the encoding of tokens: base64 without padding, with - and _. Hashes are
// computed from encoded tokens, so only one encoding of the 128 bits is a valid token.
var tokenEncoding = base64.RawURLEncoding

func deriveToken(secret string, kind event.SubjectKind, id uuid.UUID) string {
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write([]byte(string(kind) + ":" + id.String()))
	return tokenEncoding.EncodeToString(mac.Sum(nil)[:tokenBytes])
}

// NewToken returns a new random token and its hash.
func NewToken() (string, []byte) {
	var random [tokenBytes]byte
	_, _ = rand.Read(random[:]) // never fails
	token := tokenEncoding.EncodeToString(random[:])
	return token, hash(token)
}

// HashToken returns the hash of a token. A database finds a link or feed by this hash. The
// second result is false if the text cannot be a token; the caller then needs no lookup.
func HashToken(token string) ([]byte, bool) {
	raw, err := tokenEncoding.DecodeString(token)
	if err != nil || len(raw) != tokenBytes {
		return nil, false
	}
	return hash(token), true
}

// IsSame reports whether two hashes are equal. It compares them in constant time.
func IsSame(a, b []byte) bool { return subtle.ConstantTimeCompare(a, b) == 1 }

func hash(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// Response is the response to a request for the customer's link. The service
// that stores the booking, order of tickets or reservation sends it.
type Response struct {
	URL string `json:"url"` // "" if the link cannot be shown
}
