package consoletest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/go-webauthn/webauthn/protocol"
)

// Device simulates a browser on a device that has one passkey (WebAuthn). By setting fields, a test simulates a page of
// another site, a copied passkey, or a device that does not verify its user.
type Device struct {
	Origin       string // origin that the browser reports for the page
	Count        uint32 // signature counter; 0 if the device does not count its signatures
	IsUnverified bool   // true if the device does not verify its user

	id, holder []byte
	key        *ecdsa.PrivateKey
}

// NewDevice returns a device without a passkey. The browser of the device shows one of the owner's pages.
func NewDevice() *Device { return &Device{Origin: OwnerURL} }

var base64url = base64.RawURLEncoding

// options are the WebAuthn options that console sends to the script of a page.
type options struct {
	PublicKey struct {
		Challenge string `json:"challenge"`
		RPID      string `json:"rpId"`
		RP        struct {
			ID string `json:"id"`
		} `json:"rp"`
		User struct {
			ID string `json:"id"`
		} `json:"user"`
	} `json:"publicKey"`
}

func parseOptions(t *testing.T, text string) options {
	t.Helper()
	var o options
	if err := json.Unmarshal([]byte(text), &o); err != nil || o.PublicKey.Challenge == "" {
		t.Fatalf("%v: %s", err, text)
	}
	return o
}

// CreateCredential creates the passkey of the device, and returns the value that the form of the page then sends. The
// argument `optionsText` is the JSON text of the WebAuthn options that the page received.
func (d *Device) CreateCredential(t *testing.T, optionsText string) string {
	t.Helper()
	o := parseOptions(t, optionsText)
	d.id = make([]byte, 20)
	_, _ = rand.Read(d.id)
	d.holder, _ = base64url.DecodeString(o.PublicKey.User.ID)
	var err error
	if d.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	point, err := d.key.PublicKey.Bytes() // the byte 4, then the coordinates x and y
	if err != nil {
		t.Fatal(err)
	}
	cose := append([]byte{0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x58, 32}, point[1:33]...)
	cose = append(append(cose, 0x22, 0x58, 32), point[33:]...)
	data := append(d.encodeAuthenticatorData(o.PublicKey.RP.ID, protocol.FlagAttestedCredentialData),
		make([]byte, 16)...)
	data = append(append(append(data, 0, byte(len(d.id))), d.id...), cose...)
	attestation := append([]byte("\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58"), byte(len(data)))
	return d.encodeAnswer(map[string]any{
		"clientDataJSON":    d.encodeClientData("webauthn.create", o),
		"attestationObject": base64url.EncodeToString(append(attestation, data...)), "transports": []string{"internal"},
	})
}

// Sign signs a challenge with the passkey, and returns the value that the form of the page then sends. The argument
// `optionsText` is the JSON text of the WebAuthn options that the page received. These options contain the challenge.
func (d *Device) Sign(t *testing.T, optionsText string) string {
	t.Helper()
	o := parseOptions(t, optionsText)
	if d.Count > 0 {
		d.Count++
	}
	data, client := d.encodeAuthenticatorData(o.PublicKey.RPID, 0), d.encodeClientData("webauthn.get", o)
	plain, _ := base64url.DecodeString(client)
	sum := sha256.Sum256(plain)
	digest := sha256.Sum256(append(append([]byte{}, data...), sum[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, d.key, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return d.encodeAnswer(map[string]any{
		"clientDataJSON": client, "authenticatorData": base64url.EncodeToString(data),
		"signature":  base64url.EncodeToString(signature),
		"userHandle": base64url.EncodeToString(d.holder),
	})
}

func (d *Device) encodeClientData(kind string, o options) string {
	text, _ := json.Marshal(map[string]any{"type": kind, "challenge": o.PublicKey.Challenge, "origin": d.Origin,
		"crossOrigin": false})
	return base64url.EncodeToString(text)
}

// encodeAuthenticatorData returns the WebAuthn authenticator data: the hash of the site, the flags and the signature
// counter.
func (d *Device) encodeAuthenticatorData(site string, flags protocol.AuthenticatorFlags) []byte {
	sum := sha256.Sum256([]byte(site))
	flags |= protocol.FlagUserPresent
	if !d.IsUnverified {
		flags |= protocol.FlagUserVerified
	}
	return binary.BigEndian.AppendUint32(append(sum[:], byte(flags)), d.Count)
}

func (d *Device) encodeAnswer(response map[string]any) string {
	id := base64url.EncodeToString(d.id)
	text, _ := json.Marshal(map[string]any{"id": id, "rawId": id, "type": "public-key", "response": response,
		"clientExtensionResults": map[string]any{}})
	return string(text)
}
