package visitor

import (
	"github.com/chromedp/cdproto/webauthn"
)

// Device adds a virtual authenticator to the visitor's window. The authenticator creates and stores passkeys, and
// verifies its user, as a real one does with a fingerprint. The returned function turns the verification off (false) or
// on again (true).
func (v *Visitor) Device() func(verifies bool) {
	v.t.Helper()
	call(v, webauthn.Enable, webauthn.EnableParams{})
	device := call(v, webauthn.AddVirtualAuthenticator,
		webauthn.AddVirtualAuthenticatorParams{Options: &webauthn.VirtualAuthenticatorOptions{
			Protocol: webauthn.AuthenticatorProtocolCtap2, Transport: webauthn.AuthenticatorTransportInternal,
			HasResidentKey: true, HasUserVerification: true, IsUserVerified: true, AutomaticPresenceSimulation: true,
		}})
	return func(verifies bool) {
		v.t.Helper()
		call(v, webauthn.SetUserVerified, webauthn.SetUserVerifiedParams{AuthenticatorID: device.AuthenticatorID,
			IsUserVerified: verifies})
	}
}
