package password

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"errors"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The minimum and the maximum number of characters of a password (accounts.md). MaxLength limits the size of the input
// of the hash function.
const (
	MinLength = 12
	MaxLength = 256
)

// The errors of [Check].
var (
	ErrShort  = errors.New("is shorter than 12 characters")
	ErrLong   = errors.New("is longer than 256 characters")
	ErrCommon = errors.New("is easily guessed")
)

// commonPasswords has the passwords that people choose most often, one in each line, in lower case. It is Django's list
// (BSD licence), reduced to the passwords with a letter and at least five characters.
//
//go:embed common.txt.gz
var commonPasswords []byte

var isCommon = sync.OnceValue(func() map[string]bool {
	unpacked, err := gzip.NewReader(bytes.NewReader(commonPasswords))
	if err != nil {
		panic(err) // the file is embedded in the program
	}
	text, err := io.ReadAll(unpacked)
	if err != nil {
		panic(err)
	}
	known := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		known[strings.TrimSpace(line)] = true
	}
	return known
})

// Check returns an error if a person may not choose the password `clear`. The arguments `email` and `name` are the
// e-mail address and the name of the person. Errors: [ErrShort]; [ErrLong]; [ErrCommon] for a password that attackers
// try first. Check also refuses a common password that is repeated, or that has digits or signs before or after it.
func Check(clear, email, name string) error {
	clear = normalize(clear)
	switch n := utf8.RuneCountInString(clear); {
	case n < MinLength:
		return ErrShort
	case n > MaxLength:
		return ErrLong
	}
	lower := strings.ToLower(clear)
	local, _, _ := strings.Cut(strings.ToLower(email), "@")
	bare := strings.TrimFunc(lower, func(r rune) bool { return !unicode.IsLetter(r) })
	unit := findRepeatedPart(bare)
	switch {
	case isCommon()[lower], isCommon()[bare], isCommon()[unit], bare == "", countDistinct(lower) < 5,
		lower == strings.ToLower(email), bare == local, unit == local, bare == strings.ToLower(name):
		return ErrCommon
	}
	return nil
}

// findRepeatedPart returns the shortest part of `text` from which repetition makes the whole `text`, such as "ab" for
// "ababab". If no shorter text exists, findRepeatedPart returns `text`.
func findRepeatedPart(text string) string {
	if text == "" {
		return ""
	}
	if i := strings.Index((text + text)[1:], text) + 1; i < len(text) {
		return text[:i]
	}
	return text
}

// countDistinct returns the number of different characters in a text.
func countDistinct(text string) int {
	seen := map[rune]bool{}
	for _, r := range text {
		seen[r] = true
	}
	return len(seen)
}

// normalize returns a password in Unicode normal form NFKC. Keyboards can send the same character as different code
// points. In the normal form, the password has the same hash with every keyboard (NIST SP 800-63B §3.1.1.2).
func normalize(clear string) string { return norm.NFKC.String(clear) }
