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

// Limits of a password in characters (accounts.md). Longest limits the input of the hash.
const (
	Shortest = 12
	Longest  = 256
)

// The errors of [Check].
var (
	ErrShort  = errors.New("is shorter than 12 characters")
	ErrLong   = errors.New("is longer than 256 characters")
	ErrCommon = errors.New("is easily guessed")
)

// common has the passwords that people choose most often, one a line, in lower case. It is Django's list (BSD licence),
// reduced to those with a letter and at least five characters.
//
//go:embed common.txt.gz
var common []byte

var isCommon = sync.OnceValue(func() map[string]bool {
	unpacked, err := gzip.NewReader(bytes.NewReader(common))
	if err != nil {
		panic(err) // the list is part of the program
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

// Check returns an error if a person may not choose this password. email and name are those of the person. Errors:
// [ErrShort]; [ErrLong]; [ErrCommon] for a password that attackers try first. A common password that is repeated or
// surrounded by other characters is also common.
func Check(clear, email, name string) error {
	clear = normal(clear)
	switch n := utf8.RuneCountInString(clear); {
	case n < Shortest:
		return ErrShort
	case n > Longest:
		return ErrLong
	}
	lower := strings.ToLower(clear)
	local, _, _ := strings.Cut(strings.ToLower(email), "@")
	bare := strings.TrimFunc(lower, func(r rune) bool { return !unicode.IsLetter(r) })
	unit := repeated(bare)
	switch {
	case isCommon()[lower], isCommon()[bare], isCommon()[unit], bare == "", variety(lower) < 5,
		lower == strings.ToLower(email), bare == local, unit == local, bare == strings.ToLower(name):
		return ErrCommon
	}
	return nil
}

// repeated returns the shortest part of which the text is a repetition, such as "ab" for "ababab". It returns the text
// itself if the text is not a repetition.
func repeated(text string) string {
	if text == "" {
		return ""
	}
	if i := strings.Index((text + text)[1:], text) + 1; i < len(text) {
		return text[:i]
	}
	return text
}

// variety returns the number of different characters in a text.
func variety(text string) int {
	seen := map[rune]bool{}
	for _, r := range text {
		seen[r] = true
	}
	return len(seen)
}

// normal returns a password in Unicode normal form NFKC, so that it does not depend on the keyboard (NIST SP 800-63B
// §3.1.1.2).
func normal(clear string) string { return norm.NFKC.String(clear) }
