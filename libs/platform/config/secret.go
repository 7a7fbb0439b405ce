package config

import (
	"fmt"
	"regexp"
)

var (
	secretPattern = regexp.MustCompile(`^[!-+\--~]+$`)
	// knownExamples matches words that secrets in public documentation contain,
	// Slotmesh's and that of others. Such a secret is known to everyone.
	knownExamples = regexp.MustCompile(`(?i)change.?me|example|admin.?token|your.?token|secret.?token|token.?of|password|12345678|abcdefgh`)
)

// CheckSecret returns an error for a secret that is shorter than least characters, is an example,
// or is easily guessed. It permits ASCII letters, digits and signs only. Spaces and commas are
// rejected, because a comma separates several secrets. The error never contains the secret.
func CheckSecret(secret string, least int) error {
	switch {
	case len(secret) < least || !secretPattern.MatchString(secret):
		return fmt.Errorf("write %d or more ASCII letters, digits or signs without spaces and commas, such as "+
			"`openssl rand -hex %d` prints; part several by commas", least, least)
	case knownExamples.MatchString(secret) || countDistinct(secret) < 6:
		return fmt.Errorf("this is an example's, or easily guessed; take a random one, such as `openssl rand -hex "+
			"%d` prints", least)
	default:
		return nil
	}
}

// countDistinct returns the number of different characters in a secret, to detect secrets such
// as "aaaa". 24 random hex digits have fewer than 6 about once in four million cases.
func countDistinct(secret string) int {
	seen := map[rune]bool{}
	for _, r := range secret {
		seen[r] = true
	}
	return len(seen)
}
