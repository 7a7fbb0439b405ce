// Package etag creates and compares entity tags (RFC 9110 §8.8.3). The package does no I/O.
package etag

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Of returns a strong entity tag for `body`: a tag that identifies exactly these bytes.
func Of(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}

// Match reports whether the header If-None-Match names one of the tags. The argument
// `lines` holds all lines of the header, which together form one list (RFC 9110 §5.3).
// Match splits the list at commas, because no tag of this system contains a comma.
//
// The comparison is weak (RFC 9110 §13.1.2), because a proxy that compresses an answer changes the tag to a weak tag.
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
