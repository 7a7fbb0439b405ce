package visitor

import (
	"github.com/chromedp/cdproto/webauthn"
)

// Device adds a virtual authenticator to the window, which creates and stores passkeys. The authenticator verifies its
// user until a call of the returned function with false. After a call with true, the authenticator verifies its user
// again.
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
