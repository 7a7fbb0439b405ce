// Package apikey defines the form of an API key (semantics.md §10): "sm_" and 64 lower-case hexadecimal digits.
// The first 56 digits are random. The last 8 digits are the CRC-32 of the text before them. A mistyped or invented
// key is therefore rejected without a lookup. The package does no I/O, except that it reads random bytes.
package apikey

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
)

const (
	// Prefix is the start of every API key.
	Prefix = "sm_"

	randomDigits  = 56
	sumDigits     = 8
	displayDigits = 8
	length        = len(Prefix) + randomDigits + sumDigits
)

// Generate returns a new key. It reads 28 bytes from the argument `random`, which
// is crypto/rand.Reader outside tests. It returns the error of this reader.
func Generate(random io.Reader) (string, error) {
	secret := make([]byte, randomDigits/2)
	if _, err := io.ReadFull(random, secret); err != nil {
		return "", fmt.Errorf("read random bytes for an API key: %w", err)
	}
	body := Prefix + hex.EncodeToString(secret)
	return body + checksum(body), nil
}

// IsWellFormed reports whether `key` has the form of an API key and a correct checksum. It does not check whether the
// key exists.
func IsWellFormed(key string) bool {
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

// Hash returns the SHA-256 of a key. Services store the hash instead of the key.
// A slow password hash is not necessary, because a key has 224 random bits.
func Hash(key string) [sha256.Size]byte { return sha256.Sum256([]byte(key)) }

// Display returns the first eight digits of a well-formed key. Owners distinguish their keys by these digits.
func Display(key string) string { return key[len(Prefix) : len(Prefix)+displayDigits] }

// checksum returns the CRC-32 (IEEE) of `body` as eight hexadecimal digits. The text `body` includes the prefix.
func checksum(body string) string {
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(body)))
}
