package config

import (
	"fmt"
	"regexp"
)

var (
	secretPattern = regexp.MustCompile(`^[!-+\--~]+$`)
	// knownExamples matches words that occur in secrets of public documentation. Everyone knows those secrets.
	knownExamples = regexp.MustCompile(`(?i)change.?me|example|admin.?token|your.?token|secret.?token|token.?of|password|12345678|abcdefgh`)
)

// CheckSecret returns an error if the secret has fewer characters than the argument `least`, is an example from
// documentation, or is easy to guess. A secret may contain only ASCII letters, digits and signs. Spaces and commas
// are not allowed, because settings separate several secrets by commas. The error never contains the secret.
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

// countDistinct returns the number of different characters in a secret. CheckSecret uses it to detect secrets such as
// "aaaa". A random secret of 24 hexadecimal digits has fewer than 6 different digits about once in four million cases.
func countDistinct(secret string) int {
	seen := map[rune]bool{}
	for _, r := range secret {
		seen[r] = true
	}
	return len(seen)
}
