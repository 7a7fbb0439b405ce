// Package secret makes the secrets of sessions, tokens and links. Each secret has 256 random bits. Console stores only
// their hashes.
package secret

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// TokenPrefix is the beginning of each token of the admin API. Programs that scan source repositories for leaked tokens
// recognize a token by this prefix.
const TokenPrefix = "slo_"

const secretBytes = 32

// New returns a new secret in plain text and its hash. The text begins with `prefix`.
func New(prefix string) (string, [sha256.Size]byte) {
	var random [secretBytes]byte
	_, _ = rand.Read(random[:]) // never fails
	clear := prefix + hex.EncodeToString(random[:])
	return clear, Hash(clear)
}

// Hash returns the hash of a secret, by which the secret is stored and looked up. A fast hash is safe: a secret has 256
// random bits, so guessing cannot reverse the hash.
func Hash(clear string) [sha256.Size]byte { return sha256.Sum256([]byte(clear)) }

// IsWellFormed reports whether a text has the form of a secret that begins with prefix.
func IsWellFormed(prefix, text string) bool {
	digits, ok := strings.CutPrefix(text, prefix)
	return ok && len(digits) == hex.EncodedLen(secretBytes) && strings.Trim(digits, "0123456789abcdef") == ""
}

// DisplayPrefix returns the beginning of a token: the prefix and eight digits. Lists of tokens show it, so that a
// person recognizes the token.
func DisplayPrefix(clear string) string { return clear[:len(TokenPrefix)+8] }
