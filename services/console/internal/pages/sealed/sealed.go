// Package sealed encrypts customers' data in the URLs of pages, because URLs are stored in logs and browser histories.
// It encrypts and authenticates each value with AES-256-GCM. Only this installation can decrypt a value, and only for
// the business for which the value was encrypted. The same value of the same business always has the same encrypted
// text, so that the URL of a page does not change.
package sealed

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// sealedPrefix is the first character of each encrypted value.
const sealedPrefix = "~"

// parameters are the query parameters that may contain customers' data.
var parameters = []string{"email", "name", "phone", "query"}

// Box encrypts and decrypts values in URLs. It is safe for concurrent use.
type Box struct {
	keys     []key
	business string
}

type key struct {
	aead cipher.AEAD
	mac  []byte // key of the HMAC that derives the nonce of a value from the value
}

// New returns a box for pages that belong to no business. The keys of the box are derived from `secrets`. The key of
// the first secret encrypts; the keys of all secrets can decrypt.
func New(secrets ...string) (*Box, error) {
	b := &Box{}
	for _, secret := range secrets {
		const bytes = 32
		material, err := hkdf.Key(sha256.New, []byte(secret), nil, "slotmesh console: customers' data in addresses",
			2*bytes)
		if err != nil {
			return nil, fmt.Errorf("derive a key: %w", err)
		}
		block, err := aes.NewCipher(material[:bytes])
		if err != nil {
			return nil, fmt.Errorf("derive a key: %w", err)
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return nil, fmt.Errorf("derive a key: %w", err)
		}
		b.keys = append(b.keys, key{aead, material[bytes:]})
	}
	return b, nil
}

// ForBusiness returns a box for the values of one business; the argument `business` is the slug. This box cannot
// decrypt values of another business, or values that the box from [New] has encrypted.
func (b *Box) ForBusiness(business string) *Box { return &Box{keys: b.keys, business: business} }

// Seal encrypts a text. The result is sealedPrefix, followed by letters, digits, dashes and underscores.
func (b *Box) Seal(text string) string {
	k := b.keys[0]
	mac := hmac.New(sha256.New, k.mac)
	mac.Write([]byte(b.business + "\x00" + text))
	nonce := mac.Sum(nil)[:k.aead.NonceSize()]
	return sealedPrefix + base64.RawURLEncoding.EncodeToString(k.aead.Seal(nonce, nonce, []byte(text),
		[]byte(b.business)))
}

// Open decrypts a value. The second result is false if the value was not encrypted by a box with the same business and
// the same keys.
func (b *Box) Open(value string) (string, bool) {
	coded, marked := strings.CutPrefix(value, sealedPrefix)
	whole, err := base64.RawURLEncoding.DecodeString(coded)
	if !marked || err != nil {
		return "", false
	}
	for _, k := range b.keys {
		if n := k.aead.NonceSize(); len(whole) > n {
			if text, err := k.aead.Open(nil, whole[:n], whole[n:], []byte(b.business)); err == nil {
				return string(text), true
			}
		}
	}
	return "", false
}

// SealQuery encrypts those parameters of a query that may contain customers' data. It skips empty values and values
// that are already encrypted. It also skips search texts without "@", because they contain no e-mail address.
func (b *Box) SealQuery(values url.Values) {
	for _, name := range parameters {
		for i, value := range values[name] {
			if _, already := b.Open(value); value != "" && !already &&
				(name != "query" || strings.Contains(value, "@")) {
				values[name][i] = b.Seal(value)
			}
		}
	}
}

// SealPath encrypts the query of a path with [Box.SealQuery], and returns the path with the encrypted query.
func (b *Box) SealPath(path string) string {
	before, query, has := strings.Cut(path, "?")
	if !has || !slices.ContainsFunc(parameters, func(name string) bool { return strings.Contains(query, name+"=") }) {
		return path
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return before
	}
	b.SealQuery(values)
	return before + "?" + values.Encode()
}

// OpenQuery decrypts the values of a query that [Box.SealQuery] has encrypted. It reports whether the query had at
// least one such value.
func (b *Box) OpenQuery(values url.Values) bool {
	opened := false
	for _, name := range parameters {
		for i, value := range values[name] {
			if text, ok := b.Open(value); ok {
				values[name][i], opened = text, true
			}
		}
	}
	return opened
}
