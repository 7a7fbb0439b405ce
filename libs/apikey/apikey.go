// Package apikey knows the form of an API key (semantics.md §10): "sm_" and 64 lower-case hexadecimal digits, of which
// 56 are random and the last 8 the CRC-32 of everything before them, so that a mistyped or invented key is refused
// without a look into the store. It is pure but for the random source it is given.
package apikey

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
)

const (
	// Prefix begins every key.
	Prefix = "sm_"

	randomDigits  = 56
	sumDigits     = 8
	displayDigits = 8
	length        = len(Prefix) + randomDigits + sumDigits
)

// Generate returns a new key made of 28 bytes of random, which is crypto/rand.Reader outside tests. Its error is
// that of random.
func Generate(random io.Reader) (string, error) {
	secret := make([]byte, randomDigits/2)
	if _, err := io.ReadFull(random, secret); err != nil {
		return "", fmt.Errorf("read random bytes for an API key: %w", err)
	}
	body := Prefix + hex.EncodeToString(secret)
	return body + checksum(body), nil
}

// WellFormed reports whether key has the form of a key and its checksum is right. It says nothing of whether the key
// was ever given out.
func WellFormed(key string) bool {
	if len(key) != length || key[:len(Prefix)] != Prefix {
		return false
	}
	for _, c := range []byte(key[len(Prefix):]) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return checksum(key[:length-sumDigits]) == key[length-sumDigits:]
}

// Hash is what a store keeps of a key: its SHA-256. A key carries 224 random bits, so a slow password hash would add
// nothing.
func Hash(key string) [sha256.Size]byte { return sha256.Sum256([]byte(key)) }

// Display returns the first eight digits of a well-formed key, by which its owner tells keys apart.
func Display(key string) string { return key[len(Prefix) : len(Prefix)+displayDigits] }

// checksum is the CRC-32 (IEEE) of the text before it, the prefix included, as eight hexadecimal digits.
func checksum(body string) string {
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(body)))
}
