// Package password hashes passwords with argon2id, and checks that a chosen password is neither too short nor common
// (accounts.md). The computation of a hash is slow and needs much memory. So an attacker who has stolen a hash needs
// much time to guess the password.
package password

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
)

// params are the cost parameters of a hash. The values of the parameters are OWASP's minimum for argon2id. Each stored
// hash contains the parameters with which it was computed. So a later version of Slotmesh can use higher values for new
// hashes.
type params struct {
	memory  uint32 // KiB
	time    uint32
	threads uint8
}

var currentParams = params{memory: 19 * 1024, time: 2, threads: 1}

const (
	saltBytes = 16
	keyBytes  = 32
)

// Hasher computes and compares hashes. Each computation uses 19 MiB of memory, so a Hasher runs only a few computations
// at the same time; further calls wait. A Hasher is safe for concurrent use.
type Hasher struct {
	slots    chan struct{}
	dummy    string // hash of a random key, which matches no password
	computed atomic.Int64
}

// NewHasher returns a hasher that runs at most two computations at the same time for each processor.
func NewHasher() *Hasher {
	h := &Hasher{slots: make(chan struct{}, 2*runtime.GOMAXPROCS(0))}
	var salt [saltBytes]byte
	_, _ = rand.Read(salt[:]) // never fails
	var dummy [keyBytes]byte
	_, _ = rand.Read(dummy[:])
	h.dummy = encode(currentParams, salt[:], dummy[:])
	return h
}

// CountComputed returns the number of hashes that the Hasher has computed. With this number, tests check that a sign-in
// computes the same number of hashes for unknown and known accounts.
func (h *Hasher) CountComputed() int64 { return h.computed.Load() }

// Hash returns the hash of a password, for storing. The argument `clear` is the password. Error: the error of ctx, if
// ctx ends before the computation starts.
func (h *Hasher) Hash(ctx context.Context, clear string) (string, error) {
	var salt [saltBytes]byte
	_, _ = rand.Read(salt[:])
	key, err := h.compute(ctx, clear, salt[:], currentParams, keyBytes)
	return encode(currentParams, salt[:], key), err
}

// Matches reports whether the password `clear` has the hash `hash`. The hash is empty for a person without a password
// and for an unknown person. An empty hash matches no password, and the call takes the same time as for any other hash.
// Errors: the error of ctx; an error if the hash is invalid.
func (h *Hasher) Matches(ctx context.Context, hash, clear string) (bool, error) {
	isDummy := hash == ""
	if isDummy {
		hash = h.dummy
	}
	p, salt, want, err := decode(hash)
	if err != nil {
		return false, err
	}
	if utf8.RuneCountInString(clear) > MaxLength {
		clear = "" // "" is not a possible password, so the result is false
	}
	got, err := h.compute(ctx, clear, salt, p, uint32(len(want)))
	return subtle.ConstantTimeCompare(got, want) == 1 && !isDummy, err
}

func (h *Hasher) compute(ctx context.Context, clear string, salt []byte, p params, length uint32) ([]byte, error) {
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-h.slots }()
	h.computed.Add(1)
	return argon2.IDKey([]byte(normalize(clear)), salt, p.time, p.memory, p.threads, length), nil
}

// encode returns a hash as text, in the PHC string format.
func encode(p params, salt, key []byte) string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.memory, p.time, p.threads,
		b64.EncodeToString(salt), b64.EncodeToString(key))
}

func decode(hash string) (params, []byte, []byte, error) {
	var (
		p       params
		version int
	)
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[1] != "argon2id" {
		return p, nil, nil, fmt.Errorf("the hash of a password is not one of argon2id")
	}
	_, versionErr := fmt.Sscanf(parts[2], "v=%d", &version)
	_, costErr := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &p.memory, &p.time, &p.threads)
	salt, saltErr := base64.RawStdEncoding.DecodeString(parts[4])
	key, keyErr := base64.RawStdEncoding.DecodeString(parts[5])
	if versionErr != nil || version != argon2.Version || costErr != nil || saltErr != nil || keyErr != nil ||
		len(key) == 0 {
		return p, nil, nil, fmt.Errorf("the hash of a password cannot be read")
	}
	return p, salt, key, nil
}
