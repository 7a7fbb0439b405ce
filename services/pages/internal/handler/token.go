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

	"github.com/slotmesh/slotmesh/libs/clock"
)

// formLasts is how long after it was shown a form may be sent.
const formLasts = 2 * time.Hour

// forms makes the tokens of forms, and tells them again. A token holds when the form was shown and the idempotency key of what it does,
// with a digest of both and of the business: none can be made up, and one that is sent twice does nothing twice.
type forms struct {
	keys    [][]byte      // the first makes tokens, each is known
	atLeast time.Duration // no person fills one in faster
	clock   clock.Clock
}

func newForms(secrets []string, atLeast time.Duration, c clock.Clock) forms {
	f := forms{atLeast: atLeast, clock: c}
	for _, secret := range secrets {
		f.keys = append(f.keys, digest([]byte(secret), "tokens of forms on the booking page"))
	}
	return f
}

func digest(key []byte, text string) []byte {
	mac := hmac.New(sha256.New, key)
	_, _ = mac.Write([]byte(text)) // never fails
	return mac.Sum(nil)
}

// token returns a new token of a form of this business.
func (f forms) token(slug string) string {
	text := strconv.FormatInt(f.clock.Now().Unix(), 36) + "." + rand.Text()
	return text + "." + base64.RawURLEncoding.EncodeToString(digest(f.keys[0], slug+":"+text))
}

// read returns the idempotency key of a token; "" for one that was not made here, or for another business, and for a form that is sent too
// soon or too late.
func (f forms) read(slug, token string) string {
	key, age := f.parse(slug, token)
	if age < f.atLeast || age > formLasts {
		return ""
	}
	return key
}

// isValid reports whether a form may be shown with a token: it was made here for this business, and can still be sent.
func (f forms) isValid(slug, token string) bool {
	key, age := f.parse(slug, token)
	return key != "" && age >= 0 && age <= formLasts
}

// parse returns the idempotency key of a token and its age; "" for one that was not made here, or for another business.
func (f forms) parse(slug, token string) (string, time.Duration) {
	at := strings.LastIndexByte(token, '.')
	if at < 0 {
		return "", 0
	}
	text := token[:at]
	mac, err := base64.RawURLEncoding.DecodeString(token[at+1:])
	if err != nil || !slices.ContainsFunc(f.keys, func(key []byte) bool { return hmac.Equal(mac, digest(key, slug+":"+text)) }) {
		return "", 0
	}
	shown, key, _ := strings.Cut(text, ".")
	seconds, err := strconv.ParseInt(shown, 36, 64)
	if err != nil {
		return "", 0
	}
	return key, f.clock.Now().Sub(time.Unix(seconds, 0))
}
