// Package link is the customer's secret link to what they booked (lifecycle.md §5), and the secrets of calendar feeds (§2): how
// their tokens are made, what a store keeps of them, and the one answer to whoever shows none that leads anywhere.
//
// A token is 128 bits in URL-safe text. That of a link is derived from what it leads to, so that the same link can be shown again in
// each message while the store keeps its hash alone; that of a feed is random and shown once.
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

	"github.com/slotmesh/slotmesh/libs/config"
	"github.com/slotmesh/slotmesh/libs/event"
	"github.com/slotmesh/slotmesh/libs/fault"
)

// Lasts is how long after the end of what was booked its link leads there.
const Lasts = 30 * 24 * time.Hour

// NotFound is the answer to every token that leads nowhere: one that was never made, is not valid any more, or leads to what was
// forgotten. Nobody learns which.
func NotFound() error {
	return fault.New(fault.NotFound, "This link leads nowhere; it may be mistyped, or no longer valid.")
}

// Config are the settings of links.
type Config struct {
	// Secrets are what links are derived with, the newest first: it makes new links, all are known again. Without the one that made a link
	// it still works, but can be shown to nobody any more.
	Secrets []string `env:"LINK_SECRETS"`
	// PagesURL is the base of the customers' pages, such as https://book.example.com; without it nobody is shown a link.
	PagesURL string `env:"PAGES_URL"`
}

// Validate checks what the types cannot say; each fault names its variable.
func (c *Config) Validate() error {
	var errs []error
	for _, secret := range c.Secrets {
		if err := config.CheckSecret(secret, 32); err != nil {
			errs = append(errs, fmt.Errorf("LINK_SECRETS: %w", err))
			break
		}
	}
	if c.PagesURL != "" && !IsBase(c.PagesURL) {
		errs = append(errs, errors.New("PAGES_URL: write the base of the customers' pages, such as https://book.example.com, without a query"))
	}
	return errors.Join(errs...)
}

// IsBase reports whether a text is the base of public addresses: http or https with a host, without a query.
func IsBase(text string) bool {
	base, err := url.Parse(text)
	return err == nil && (base.Scheme == "https" || base.Scheme == "http") && base.Host != "" && base.User == nil &&
		base.RawQuery == "" && base.Fragment == ""
}

// Open returns what makes links by these settings. Its error names LINK_SECRETS where there is none: a service does not start without,
// while a migration needs none.
func (c *Config) Open() (*Links, error) {
	if len(c.Secrets) == 0 {
		return nil, errors.New("LINK_SECRETS: missing; write one of 32 or more random characters, such as `openssl rand -hex 32` prints, and keep it")
	}
	return &Links{secrets: c.Secrets, pages: strings.TrimSuffix(c.PagesURL, "/")}, nil
}

// Links makes links and tells them again. It is safe for many goroutines.
type Links struct {
	secrets []string
	pages   string
}

// Hash is what is kept of the link to a new booking, ticket order or reservation.
func (l *Links) Hash(kind event.SubjectKind, id uuid.UUID) []byte {
	return hash(derive(l.secrets[0], kind, id))
}

// URL is the link to what this hash was kept of: "" without pages, without a hash, as of what was forgotten, and where the secret that
// made it is gone.
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

// FeedURL is the address of a calendar feed; "" without pages.
func (l *Links) FeedURL(token string) string {
	if l.pages == "" {
		return ""
	}
	return l.pages + "/calendar/" + token + ".ics"
}

const tokenBytes = 16

// text is what tokens are written in: unpadded base64 with - and _. Hashes are of the text, so that one token has one text.
var text = base64.RawURLEncoding

func derive(secret string, kind event.SubjectKind, id uuid.UUID) string {
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write([]byte(string(kind) + ":" + id.String()))
	return text.EncodeToString(mac.Sum(nil)[:tokenBytes])
}

// Random returns a new token that nothing can be derived again from, and its hash.
func Random() (string, []byte) {
	var random [tokenBytes]byte
	_, _ = rand.Read(random[:]) // never fails
	token := text.EncodeToString(random[:])
	return token, hash(token)
}

// HashOf returns what a store finds a token by, and false for what cannot be a token, without a look into the store.
func HashOf(token string) ([]byte, bool) {
	raw, err := text.DecodeString(token)
	if err != nil || len(raw) != tokenBytes {
		return nil, false
	}
	return hash(token), true
}

// Same compares two hashes in a time that tells nothing of them.
func Same(a, b []byte) bool { return subtle.ConstantTimeCompare(a, b) == 1 }

func hash(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// Shown is what the service that owns a booking, an order of tickets or a reservation answers to the question for its link.
type Shown struct {
	URL string `json:"url"` // "" where there is none to show
}
