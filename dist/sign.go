package dist

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/armor"
)

// publicKey is the name of the file with the armored public key, which `gpg --import` reads.
const publicKey = "slotmesh.asc"

// writeSignature writes the detached signature of the checksums, which `gpg --verify SHA256SUMS.asc` checks, and the
// public key.
func writeSignature(o Options, text []byte) error {
	file, err := os.Open(o.Key)
	if err != nil {
		return err
	}
	defer file.Close()
	keys, err := openpgp.ReadArmoredKeyRing(file)
	if err != nil {
		return err
	}
	if len(keys) == 0 || keys[0].PrivateKey == nil {
		return errors.New(o.Key + " has no private key")
	}
	if keys[0].PrivateKey.Encrypted {
		if err := keys[0].DecryptPrivateKeys([]byte(o.Passphrase)); err != nil {
			return err
		}
	}
	var public, signature bytes.Buffer
	w, err := armor.Encode(&public, openpgp.PublicKeyType, nil)
	if err != nil {
		return err
	}
	if err := errors.Join(keys[0].Serialize(w), w.Close()); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(o.Out, publicKey), public.Bytes(), 0o644); err != nil {
		return err
	}
	if err := openpgp.ArmoredDetachSign(&signature, keys[0], bytes.NewReader(text), nil); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(o.Out, checksums+".asc"), signature.Bytes(), 0o644)
}
