package dist

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"

	"github.com/ProtonMail/go-crypto/openpgp"
)

// writeSignature writes the detached signature of the checksums, which `gpg --verify SHA256SUMS.asc` checks.
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
	var signature bytes.Buffer
	if err := openpgp.ArmoredDetachSign(&signature, keys[0], bytes.NewReader(text), nil); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(o.Out, checksums+".asc"), signature.Bytes(), 0o644)
}
