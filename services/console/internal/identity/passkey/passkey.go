// Package passkey makes challenges for passkeys and checks the answers of browsers (WebAuthn, accounts.md). It stores
// nothing: the caller stores each challenge, and must use it for one answer only.
//
// All passkeys are discoverable: the person's device finds the passkey for a site without a list of passkeys from the
// server. So console never sends a list of a person's passkeys to a browser that is not signed in. The device also
// verifies the person by a fingerprint, a face or a PIN. So the device's answer proves two factors: that the person has
// the device, and that the device has verified the person.
package passkey

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
)

// ErrRefused means that a browser's answer does not match its challenge, or that the answer has an invalid signature.
var ErrRefused = errors.New("the passkey's answer is not good")

// maxAnswer is the maximum size of a browser's answer, in bytes.
const maxAnswer = 16 << 10

// Key is the public data of a passkey. No field is secret.
type Key struct {
	ID         []byte // id of the passkey, which the device chose
	PublicKey  []byte // in the format COSE
	Flags      byte   // flags of the last answer: the device verified the person, the key has a backup
	Transports []string
	Count      uint32 // number of answers, as the device counts them; 0 if the device does not count
}

// Holder is the person who owns passkeys.
type Holder struct {
	ID          []byte // id of the person, which the device stores; it contains no personal data
	Name, Email string
	Keys        []Key
}

// Site is the host of the owner's pages, for which passkeys are valid.
type Site struct {
	engine *webauthn.WebAuthn
	host   string
}

// NewSite returns the site for the public base URL of the owner's pages, such as https://owner.example.com. For a
// loopback address, the host name of the site is localhost. NewSite returns nil if the argument `base` is empty. It
// also returns nil for any other IP address, because a passkey is bound to a host name.
func NewSite(base string) (*Site, error) {
	if base == "" {
		return nil, nil // passkeys are not available
	}
	at, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	name := at.Hostname()
	if ip := net.ParseIP(name); ip != nil {
		if !ip.IsLoopback() {
			return nil, nil // passkeys are not available
		}
		name = "localhost"
		at.Host = strings.TrimSuffix(name+":"+at.Port(), ":")
	}
	engine, err := webauthn.New(&webauthn.Config{
		RPID: name, RPDisplayName: "Slotmesh", RPOrigins: []string{at.Scheme + "://" + at.Host},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(),
			UserVerification: protocol.VerificationRequired,
		},
		// Browsers may add outputs of extensions that the challenge did not request. This policy makes the WebAuthn
		// library ignore such outputs.
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	})
	if err != nil {
		return nil, fmt.Errorf("passkeys at %s: %w", name, err)
	}
	return &Site{engine, at.Host}, nil
}

// Host returns the host name and port of the pages on which browsers may use passkeys.
func (s *Site) Host() string { return s.host }

// Begin makes a challenge for a sign-in. The challenge does not depend on the person, who is still unknown. Begin
// returns the options for the browser and the challenge to store, both as JSON.
func (s *Site) Begin() (json.RawMessage, []byte, error) {
	options, session, err := s.engine.BeginDiscoverableLogin()
	if err != nil {
		return nil, nil, err
	}
	return encodeChallenge(options.Response, session)
}

// BeginAdding makes a challenge for a new passkey of a person. The options list the person's passkeys, so that the
// browser refuses a device that already has one of these passkeys. BeginAdding returns the options for the browser and
// the challenge to store, both as JSON.
func (s *Site) BeginAdding(holder Holder) (json.RawMessage, []byte, error) {
	u := user{holder}
	options, session, err := s.engine.BeginRegistration(u,
		webauthn.WithExclusions(webauthn.Credentials(u.WebAuthnCredentials()).CredentialDescriptors()))
	if err != nil {
		return nil, nil, err
	}
	return encodeChallenge(options.Response, session)
}

func encodeChallenge(options any, session *webauthn.SessionData) (json.RawMessage, []byte, error) {
	optionsText, err1 := json.Marshal(options)
	sessionText, err2 := json.Marshal(session)
	return optionsText, sessionText, errors.Join(err1, err2)
}

// FinishAdding checks a browser's answer to a challenge of [Site.BeginAdding], and returns the new passkey. Errors:
// [ErrRefused].
func (s *Site) FinishAdding(holder Holder, challenge []byte, answer string) (Key, error) {
	var session webauthn.SessionData
	if err := json.Unmarshal(challenge, &session); err != nil {
		return Key{}, err
	}
	if len(answer) > maxAnswer {
		return Key{}, ErrRefused
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes([]byte(answer))
	if err != nil {
		return Key{}, ErrRefused // hides the error, because its text may repeat parts of the answer
	}
	credential, err := s.engine.CreateCredential(user{holder}, session, parsed)
	if err != nil {
		return Key{}, ErrRefused
	}
	return newKey(credential), nil
}

// Finish checks a browser's answer to a challenge of [Site.Begin]. It returns the passkey that signed the answer, with
// its new counter and flags. The function `find` returns the owner of a passkey. The arguments of `find` are the id of
// the passkey and the id of the owner, both reported by the device.
//
// Errors: [ErrRefused], and the errors of `find`. Finish also returns [ErrRefused] if the passkey's counter is not
// larger than the stored counter, because the passkey may have been copied to another device.
func (s *Site) Finish(challenge []byte, answer string, find func(id, holder []byte) (Holder, error)) (Key, error) {
	var session webauthn.SessionData
	if err := json.Unmarshal(challenge, &session); err != nil {
		return Key{}, err
	}
	if len(answer) > maxAnswer {
		return Key{}, ErrRefused
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes([]byte(answer))
	if err != nil {
		return Key{}, ErrRefused
	}
	var missing error
	_, credential, err := s.engine.ValidatePasskeyLogin(func(id, handle []byte) (webauthn.User, error) {
		var holder Holder
		holder, missing = find(id, handle)
		return user{holder}, missing
	}, session, parsed)
	if missing != nil {
		return Key{}, missing
	}
	if err != nil || credential.Authenticator.CloneWarning {
		return Key{}, ErrRefused
	}
	return newKey(credential), nil
}

func newKey(c *webauthn.Credential) Key {
	k := Key{ID: c.ID, PublicKey: c.PublicKey, Flags: byte(c.Flags.ProtocolValue()), Transports: []string{},
		Count: c.Authenticator.SignCount}
	for _, t := range c.Transport {
		k.Transports = append(k.Transports, string(t))
	}
	return k
}

// user implements the interface [webauthn.User] of the WebAuthn library for a holder.
type user struct{ Holder }

// WebAuthnID implements [webauthn.User].
func (u user) WebAuthnID() []byte { return u.ID }

// WebAuthnName implements [webauthn.User].
func (u user) WebAuthnName() string { return u.Email }

// WebAuthnDisplayName implements [webauthn.User].
func (u user) WebAuthnDisplayName() string { return u.Name }

// WebAuthnCredentials implements [webauthn.User].
func (u user) WebAuthnCredentials() []webauthn.Credential {
	all := make([]webauthn.Credential, len(u.Keys))
	for i, k := range u.Keys {
		all[i] = webauthn.Credential{
			ID: k.ID, PublicKey: k.PublicKey, Flags: webauthn.NewCredentialFlags(protocol.AuthenticatorFlags(k.Flags)),
			Authenticator: webauthn.Authenticator{SignCount: k.Count},
		}
		for _, t := range k.Transports {
			all[i].Transport = append(all[i].Transport, protocol.AuthenticatorTransport(t))
		}
	}
	return all
}
