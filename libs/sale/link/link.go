// Package link implements the customer's secret link to a booking, an order or a reservation
// (lifecycle.md §5), and the secret address of a calendar feed (§2). It creates tokens,
// computes the hashes that stores keep, and has the common answer to invalid tokens.
//
// A token is 128 bits as URL-safe text. The token of a link is derived from a secret and
// the id of the booking, order or reservation. Every message can therefore contain the same
// link, although only its hash is stored. The token of a feed is random and shown once.
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

// Lasts is how long a link is valid after the end of its booking, order or reservation.
const Lasts = 30 * 24 * time.Hour

// NotFound returns the fault for every invalid token: one that never existed,
// has expired, or belongs to anonymized data. The caller does not learn which.
func NotFound() error {
	return fault.New(fault.NotFound, "This link leads nowhere; it may be mistyped, or no longer valid.")
}

// Config holds the settings of links.
type Config struct {
	// Secrets are the secrets from which links are derived, the newest first. New links use the first secret.
	// A link that was derived from a removed secret still works, but messages and pages can no longer show it.
	Secrets []string `env:"LINK_SECRETS"`
	// PagesURL is the base of the customers' pages, such as https://book.example.com. Without it no links are shown.
	PagesURL string `env:"PAGES_URL"`
}

// Validate checks the settings beyond their types. Each error names its variable.
func (c *Config) Validate() error {
	var errs []error
	for _, secret := range c.Secrets {
		if err := config.CheckSecret(secret, 32); err != nil {
			errs = append(errs, fmt.Errorf("LINK_SECRETS: %w", err))
			break
		}
	}
	if c.PagesURL != "" && !IsBase(c.PagesURL) {
		errs = append(errs, errors.New("PAGES_URL: write the base of the customers' pages, such as "+
			"https://book.example.com, without a query"))
	}
	return errors.Join(errs...)
}

// IsBase reports whether a text is a base URL: http or https with a host, without user, query and fragment.
func IsBase(text string) bool {
	base, err := url.Parse(text)
	return err == nil && (base.Scheme == "https" || base.Scheme == "http") && base.Host != "" && base.User == nil &&
		base.RawQuery == "" && base.Fragment == ""
}

// Open returns the [Links] with these settings. It returns an error that names LINK_SECRETS
// if there are none: a service does not start without a secret, but a migration needs none.
func (c *Config) Open() (*Links, error) {
	if len(c.Secrets) == 0 {
		return nil, errors.New("LINK_SECRETS: missing; write one of 32 or more random characters, such as `openssl " +
			"rand -hex 32` prints, and keep it")
	}
	return &Links{secrets: c.Secrets, pages: strings.TrimSuffix(c.PagesURL, "/")}, nil
}

// Links creates links and shows existing ones again. It is safe for concurrent use.
type Links struct {
	secrets []string
	pages   string
}

// Hash returns the hash to store for the link to a new booking, order of tickets or reservation.
func (l *Links) Hash(kind event.SubjectKind, id uuid.UUID) []byte {
	return hash(derive(l.secrets[0], kind, id))
}

// URL returns the link to a booking, order or reservation, if its hash is the stored hash kept. It returns ""
// without PagesURL, without a stored hash, as for anonymized data, and if the secret of the link was removed.
func (l *Links) URL(kind event.SubjectKind, id uuid.UUID, kept []byte) string {
	if l.pages == "" {
		return ""
	}
	for _, secret := range l.secrets {
		if token := derive(secret, kind, id); Same(hash(token), kept) {
			return l.pages + "/m/" + token
		}
	}
	return ""
}

// FeedURL returns the URL of a calendar feed; "" without PagesURL.
func (l *Links) FeedURL(token string) string {
	if l.pages == "" {
		return ""
	}
	return l.pages + "/calendar/" + token + ".ics"
}

const tokenBytes = 16

// text is the encoding of tokens: unpadded base64 with - and _. A hash is
// computed from the encoded token, so only one spelling of a token is valid.
var text = base64.RawURLEncoding

func derive(secret string, kind event.SubjectKind, id uuid.UUID) string {
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write([]byte(string(kind) + ":" + id.String()))
	return text.EncodeToString(mac.Sum(nil)[:tokenBytes])
}

// Random returns a new random token and its hash.
func Random() (string, []byte) {
	var random [tokenBytes]byte
	_, _ = rand.Read(random[:]) // never fails
	token := text.EncodeToString(random[:])
	return token, hash(token)
}

// HashOf returns the hash by which a store finds a token. It returns
// false if the text cannot be a token, so that no lookup is needed.
func HashOf(token string) ([]byte, bool) {
	raw, err := text.DecodeString(token)
	if err != nil || len(raw) != tokenBytes {
		return nil, false
	}
	return hash(token), true
}

// Same compares two hashes in constant time.
func Same(a, b []byte) bool { return subtle.ConstantTimeCompare(a, b) == 1 }

func hash(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// Shown is the response of the owning service to a request for
// the link of a booking, an order of tickets or a reservation.
type Shown struct {
	URL string `json:"url"` // "" if the link cannot be shown
}
