// Package passkey makes challenges for passkeys and checks the answers of browsers (WebAuthn, accounts.md). It stores
// nothing: the caller stores each challenge and uses it for one answer.
//
// All passkeys are discoverable: the person's device finds the passkey for the site itself. So console never sends a
// list of a person's passkeys to a browser that is not signed in. The device also verifies the person by a finger, a
// face or a PIN. So a passkey proves both what a person has and who they are.
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

// ErrRefused means that an answer does not match its challenge, or that its signature is not that of the named passkey.
var ErrRefused = errors.New("the passkey's answer is not good")

// maxAnswer is the maximum size of a browser's answer, in bytes.
const maxAnswer = 16 << 10

// Key is the public data of a passkey: no field is secret.
type Key struct {
	ID         []byte // the id that its device gave it
	PublicKey  []byte // COSE
	Flags      byte   // of its last answer: whether its person is verified, and whether it is backed up
	Transports []string
	Count      uint32 // number of its answers as the device counts them; 0 if it does not count
}

// Holder is the owner of passkeys.
type Holder struct {
	ID          []byte // stored by the device; it does not identify the person to others
	Name, Email string
	Keys        []Key
}

// Site is the host of the owner's side, for which passkeys are valid.
type Site struct {
	engine *webauthn.WebAuthn
	host   string
}

// NewSite returns the site for the public base of the owner's side, such as https://owner.example.com. It returns nil
// if base is empty or has an IP address, because a passkey is bound to a host name. For a loopback address, the host
// name is localhost.
func NewSite(base string) (*Site, error) {
	if base == "" {
		return nil, nil // there is no site
	}
	at, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	name := at.Hostname()
	if ip := net.ParseIP(name); ip != nil {
		if !ip.IsLoopback() {
			return nil, nil // there is no site
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
		// Extension outputs that a browser adds without a request do not affect the checks.
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	})
	if err != nil {
		return nil, fmt.Errorf("passkeys at %s: %w", name, err)
	}
	return &Site{engine, at.Host}, nil
}

// Host returns the host, with its port, at which browsers may use passkeys.
func (s *Site) Host() string { return s.host }

// Begin makes a challenge for a sign-in. It is the same kind of challenge for every person. Begin returns the options
// for the browser and the challenge to store, both as JSON.
func (s *Site) Begin() (json.RawMessage, []byte, error) {
	asked, session, err := s.engine.BeginDiscoverableLogin()
	if err != nil {
		return nil, nil, err
	}
	return both(asked.Response, session)
}

// BeginAdding makes a challenge for a new passkey of a person. The browser refuses a device that already has one of the
// holder's passkeys. BeginAdding returns the options for the browser and the challenge to store, both as JSON.
func (s *Site) BeginAdding(holder Holder) (json.RawMessage, []byte, error) {
	u := user{holder}
	asked, session, err := s.engine.BeginRegistration(u,
		webauthn.WithExclusions(webauthn.Credentials(u.WebAuthnCredentials()).CredentialDescriptors()))
	if err != nil {
		return nil, nil, err
	}
	return both(asked.Response, session)
}

func both(asked any, session *webauthn.SessionData) (json.RawMessage, []byte, error) {
	told, err1 := json.Marshal(asked)
	kept, err2 := json.Marshal(session)
	return told, kept, errors.Join(err1, err2)
}

// FinishAdding checks the answer to a challenge of [Site.BeginAdding], and returns the new passkey. Errors:
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
		return Key{}, ErrRefused // the error is hidden, because its text may repeat what was sent
	}
	made, err := s.engine.CreateCredential(user{holder}, session, parsed)
	if err != nil {
		return Key{}, ErrRefused
	}
	return keyOf(made), nil
}

// Finish checks the answer to a challenge of [Site.Begin], and returns the passkey that signed it, with its new counter
// and flags. find returns the owner of a passkey by the passkey's id and the owner's id, as the device reports them.
//
// Errors: [ErrRefused], also if the counter is not larger than the stored one, because the device may be a copy; those
// of find.
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
	_, used, err := s.engine.ValidatePasskeyLogin(func(id, handle []byte) (webauthn.User, error) {
		var holder Holder
		holder, missing = find(id, handle)
		return user{holder}, missing
	}, session, parsed)
	if missing != nil {
		return Key{}, missing
	}
	if err != nil || used.Authenticator.CloneWarning {
		return Key{}, ErrRefused
	}
	return keyOf(used), nil
}

func keyOf(c *webauthn.Credential) Key {
	k := Key{ID: c.ID, PublicKey: c.PublicKey, Flags: byte(c.Flags.ProtocolValue()), Transports: []string{},
		Count: c.Authenticator.SignCount}
	for _, t := range c.Transport {
		k.Transports = append(k.Transports, string(t))
	}
	return k
}

// user adapts a holder to the library.
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
