package peer

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Callers are the services that may call this service. Each entry holds the SHA-256 of the caller's
// credential. This service does not store the credentials, so it cannot impersonate its callers.
type Callers []caller

type caller struct {
	name string
	hash [sha256.Size]byte
}

// Credential returns the credential that a service with the given secret sends to the service `callee`. Other services
// reject this credential, so that `callee` cannot use it to impersonate the caller.
func Credential(secret, callee string) string { return hash(secret + "/" + callee) }

// HashCredential returns the SHA-256 of a credential as 64
// hexadecimal digits. This is the format of hashes in PEER_CALLERS.
func HashCredential(credential string) string { return hash(credential) }

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// NewSecrets returns one random secret for each service name, for a process that runs all services.
func NewSecrets(names ...string) map[string]string {
	secrets := make(map[string]string, len(names))
	for _, name := range names {
		secrets[name] = rand.Text() + rand.Text()
	}
	return secrets
}

// CallersSetting returns the value of PEER_CALLERS for the service `callee`. The argument `secrets` maps the names of
// the services that call `callee` to their secrets.
func CallersSetting(secrets map[string]string, callee string) string {
	entries := make([]string, 0, len(secrets))
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		entries = append(entries, name+"="+HashCredential(Credential(secrets[name], callee)))
	}
	return strings.Join(entries, ",")
}

// ParseCallers parses entries of the form name=hash. A name may have several hashes,
// so that the secret of a service can be rotated. ParseCallers returns an error if
// two names have the same hash, because a credential must identify one caller.
func ParseCallers(entries []string) (Callers, error) {
	var callers Callers
	names := map[[sha256.Size]byte]string{}
	for _, entry := range entries {
		entry = strings.TrimSpace(entry)
		if entry == "" {
			continue
		}
		name, text, _ := strings.Cut(entry, "=")
		hash, err := hex.DecodeString(text)
		if err != nil || len(hash) != sha256.Size || !isCallerName(name) {
			return nil, fmt.Errorf("entry %d: write the name of a service, = and the SHA-256 of its credential in "+
				"hexadecimal digits, "+
				"such as pages=9f86…; part several by commas", len(names)+1)
		}
		c := caller{name: name, hash: [sha256.Size]byte(hash)}
		if other, known := names[c.hash]; known && other != name {
			return nil, fmt.Errorf("%s and %s have the same secret; give each service its own", other, name)
		}
		names[c.hash] = name
		callers = append(callers, c)
	}
	return callers, nil
}

func isCallerName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool { return r < 'a' || r > 'z' })
}

// Find returns the name of the caller that has this credential, or "" if the credential is unknown. It always compares
// all hashes in constant time, so that the duration of a call reveals nothing about the hashes.
func (c Callers) Find(credential []byte) string {
	if len(credential) == 0 {
		return ""
	}
	sum, found := sha256.Sum256(credential), -1
	for i := range c {
		if subtle.ConstantTimeCompare(sum[:], c[i].hash[:]) == 1 {
			found = i
		}
	}
	if found < 0 {
		return ""
	}
	return c[found].name
}
