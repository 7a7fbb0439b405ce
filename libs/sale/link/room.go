package link

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"net/url"
	"strings"

	"github.com/google/uuid"
)

// roomEncoding encodes the code of a meeting: 26 lower-case letters and digits, which all meeting services accept.
var roomEncoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// secretIDBytes is the length of the identifier of a secret. It only
// distinguishes the secrets of one installation.
const secretIDBytes = 4

// RoomSecret returns an identifier of the secret from which the codes of new meetings are derived.
// It is stored with a booking, so that the code of the meeting stays the same after a new secret is added.
func (l *Links) RoomSecret() string { return secretID(l.secrets[0]) }

// RoomURL returns the meeting link of a booking. The argument `template` is the link in the offer. RoomURL replaces
// {booking} by the id of the booking, and {code} by a code that only the participants can know. The code is
// derived from the secret that `secret` identifies. RoomURL returns "" if this secret was removed.
func (l *Links) RoomURL(template, secret string, id uuid.UUID) string {
	filled := strings.ReplaceAll(template, "{booking}", url.PathEscape(id.String()))
	if !strings.Contains(filled, "{code}") {
		return filled
	}
	for _, s := range l.secrets {
		if secretID(s) == secret {
			return strings.ReplaceAll(filled, "{code}", deriveRoom(s, id))
		}
	}
	return ""
}

func deriveRoom(secret string, id uuid.UUID) string {
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write([]byte("room:" + id.String()))
	return roomEncoding.EncodeToString(mac.Sum(nil)[:tokenBytes])
}

func secretID(secret string) string {
	sum := sha256.Sum256([]byte("room secret:" + secret))
	return hex.EncodeToString(sum[:secretIDBytes])
}
