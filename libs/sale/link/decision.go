package link

import (
	"crypto/hmac"
	"crypto/sha256"
	"strings"

	"github.com/google/uuid"
)

// Decision identifies who may decide about which booking by a mailed link: the recipient of a notice confirms or
// declines a pending booking without a sign-in. Recipient is the result of [RecipientID].
type Decision struct{ Business, Booking, Recipient uuid.UUID }

// RecipientID returns the id of an address to which a business sends its notices. The id is derived from the address,
// so it needs no storage, and a link with it contains no address. Upper and lower case count as the same.
func RecipientID(business uuid.UUID, email string) uuid.UUID {
	return uuid.NewSHA1(business, []byte("notice:"+strings.ToLower(email)))
}

// decisionBytes is the size of the token of a decision: two ids and the signature.
const decisionBytes = 2*16 + tokenBytes

// DecisionURL returns the link with which a recipient decides about a booking of the business with the given slug. It
// returns "" if PagesURL is not set.
func (l *Links) DecisionURL(slug string, d Decision) string {
	if l.pages == "" {
		return ""
	}
	return l.pages + "/b/" + slug + "/decide/" + l.DecisionToken(d)
}

// DecisionToken returns the token of a decision: the ids of the booking and of the recipient, and a signature of both
// and of the business.
func (l *Links) DecisionToken(d Decision) string {
	raw := append(append(make([]byte, 0, decisionBytes), d.Booking[:]...), d.Recipient[:]...)
	return tokenEncoding.EncodeToString(append(raw, signDecision(l.secrets[0], d)...))
}

// ReadDecision returns the decision of a token of the given business. The second result is false if the token is
// malformed, or if no secret of the service has signed it for this business. The signature does not expire; the caller
// must check the booking and the recipient.
func (l *Links) ReadDecision(business uuid.UUID, token string) (Decision, bool) {
	raw, err := tokenEncoding.DecodeString(token)
	if err != nil || len(raw) != decisionBytes {
		return Decision{}, false
	}
	d := Decision{Business: business, Booking: uuid.UUID(raw[:16]), Recipient: uuid.UUID(raw[16:32])}
	for _, secret := range l.secrets {
		if IsSame(signDecision(secret, d), raw[32:]) {
			return d, true
		}
	}
	return Decision{}, false
}

// IsDecisionToken reports whether a text has the form of a decision's token.
func IsDecisionToken(token string) bool {
	raw, err := tokenEncoding.DecodeString(token)
	return err == nil && len(raw) == decisionBytes
}

// signDecision returns the signature of a decision. Its input begins with a word of its own, so that it differs from
// the input of every other token.
func signDecision(secret string, d Decision) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = mac.Write([]byte("decision:" + d.Business.String() + ":" + d.Booking.String() + ":" + d.Recipient.String()))
	return mac.Sum(nil)[:tokenBytes]
}
