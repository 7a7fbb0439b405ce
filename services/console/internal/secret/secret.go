// Package secret makes what people and programs sign in with: 256 random bits, of which only the hash is kept.
package secret

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// TokenPrefix begins a token of the admin API, so that scanners of repositories know one.
const TokenPrefix = "slo_"

const bytes = 32

// New returns a secret in clear, which begins with prefix, and its hash.
func New(prefix string) (string, [sha256.Size]byte) {
	var random [bytes]byte
	_, _ = rand.Read(random[:]) // never fails
	clear := prefix + hex.EncodeToString(random[:])
	return clear, Hash(clear)
}

// Hash returns the hash by which a secret is stored and looked up. The secret is random, so its hash does not reveal it.
func Hash(clear string) [sha256.Size]byte { return sha256.Sum256([]byte(clear)) }

// WellFormed reports whether a text can be a secret of this prefix.
func WellFormed(prefix, text string) bool {
	digits, ok := strings.CutPrefix(text, prefix)
	return ok && len(digits) == hex.EncodedLen(bytes) && strings.Trim(digits, "0123456789abcdef") == ""
}

// Shown is the part of a token by which its owner knows it: the prefix and eight digits.
func Shown(clear string) string { return clear[:len(TokenPrefix)+8] }
