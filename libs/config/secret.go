package config

import (
	"fmt"
	"regexp"
)

var (
	secretPattern = regexp.MustCompile(`^[!-+\--~]+$`)
	// published are parts of secrets that descriptions and examples show, ours and others': whoever reads them would be let in.
	published = regexp.MustCompile(`(?i)change.?me|example|admin.?token|your.?token|secret.?token|token.?of|password|12345678|abcdefgh`)
)

// CheckSecret returns what is wrong with a secret of which least characters are wanted: too short, not made of ASCII letters, digits
// and signs but spaces and commas (several are parted by these), an example's, or easily guessed. It never shows the secret.
func CheckSecret(secret string, least int) error {
	switch {
	case len(secret) < least || !secretPattern.MatchString(secret):
		return fmt.Errorf("write %d or more ASCII letters, digits or signs without spaces and commas, such as `openssl rand -hex %d` prints; part several by commas", least, least)
	case published.MatchString(secret) || distinct(secret) < 6:
		return fmt.Errorf("this is an example's, or easily guessed; take a random one, such as `openssl rand -hex %d` prints", least)
	default:
		return nil
	}
}

// distinct counts the different characters; 24 random hex digits have fewer than 6 about once in four million times.
func distinct(secret string) int {
	seen := map[rune]bool{}
	for _, r := range secret {
		seen[r] = true
	}
	return len(seen)
}
