// Package etag makes and compares entity tags (RFC 9110 §8.8.3). The package does no I/O.
package etag

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Of returns a strong entity tag: it identifies exactly these bytes.
func Of(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}

// Match reports whether an If-None-Match names one of the tags. lines are all lines of the header, which
// form one list (RFC 9110 §5.3). No tag of this system contains a comma, so the list is split at commas.
//
// The comparison is weak (RFC 9110 §13.1.2), because a proxy that compresses the answer makes its tag weak.
func Match(lines []string, tags ...string) bool {
	for _, line := range lines {
		for headerTags := range strings.SplitSeq(line, ",") {
			headerTags = strings.TrimSpace(headerTags)
			if headerTags == "*" {
				return true
			}
			for _, tag := range tags {
				if strings.TrimPrefix(headerTags, "W/") == strings.TrimPrefix(tag, "W/") {
					return true
				}
			}
		}
	}
	return false
}
