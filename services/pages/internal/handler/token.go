package handler

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slotmesh/slotmesh/libs/platform/clock"
)

// maxFormAge is the maximum time between showing a form and submitting the form.
const maxFormAge = 2 * time.Hour

// formTokens creates and checks the tokens of forms. A token contains the time at which the form was shown, and an
// idempotency key. An HMAC of the time, the key and the slug prevents forged tokens. If a visitor submits a form twice,
// both submissions have the same key, so only one order is made.
type formTokens struct {
	keys   [][]byte      // the first key signs new tokens; a token signed with any of the keys is valid
	minAge time.Duration // minimum time that a person needs to fill in a form
	clock  clock.Clock
}

func newFormTokens(secrets []string, minAge time.Duration, c clock.Clock) formTokens {
	f := formTokens{minAge: minAge, clock: c}
	for _, secret := range secrets {
		f.keys = append(f.keys, digest([]byte(secret), "tokens of forms on the booking page"))
	}
	return f
}

func digest(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(text)) // writing to an HMAC never fails
	return mac.Sum(nil)
}

// create returns a new token for a form of the business with the given slug.
func (f formTokens) create(slug string) string {
	text := strconv.FormatInt(f.clock.Now().Unix(), 36) + "." + rand.Text()
	return text + "." + base64.RawURLEncoding.EncodeToString(digest(f.keys[0], slug+":"+text))
}

// readKey returns the idempotency key in a submitted token. It returns "" if the token is forged or belongs to another
// business. It also returns "" if the form is submitted too late, or so early that a bot must have sent the form.
func (f formTokens) readKey(slug, token string) string {
	key, age := f.parse(slug, token)
	if age < f.minAge || age > maxFormAge {
		return ""
	}
	return key
}

// isValid reports whether a form with the given token may be
// shown: the token was made for the business and has not expired.
func (f formTokens) isValid(slug, token string) bool {
	key, age := f.parse(slug, token)
	return key != "" && age >= 0 && age <= maxFormAge
}

// parse returns the idempotency key in a token and the age of the token.
// The key is "" if the token is forged or belongs to another business.
func (f formTokens) parse(slug, token string) (string, time.Duration) {
	at := strings.LastIndexByte(token, '.')
	if at < 0 {
		return "", 0
	}
	text := token[:at]
	mac, err := base64.RawURLEncoding.DecodeString(token[at+1:])
	if err != nil || !slices.ContainsFunc(f.keys,
		func(key []byte) bool { return hmac.Equal(mac, digest(key, slug+":"+text)) }) {
		return "", 0
	}
	shownAt, key, _ := strings.Cut(text, ".")
	seconds, err := strconv.ParseInt(shownAt, 36, 64)
	if err != nil {
		return "", 0
	}
	return key, f.clock.Now().Sub(time.Unix(seconds, 0))
}
