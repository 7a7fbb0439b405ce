// Package etag makes and compares entity tags (RFC 9110 §8.8.3). It is pure.
package etag

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Of is a strong entity tag: it stands for exactly these bytes.
func Of(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}

// Match reports whether the header If-None-Match names the tag. It compares weakly, as RFC 9110 §13.1.2 asks: a proxy
// that compresses the answer makes its tag weak. None of our tags holds a comma.
func Match(header, tag string) bool {
	for given := range strings.SplitSeq(header, ",") {
		given = strings.TrimSpace(given)
		if given == "*" || strings.TrimPrefix(given, "W/") == tag {
			return true
		}
	}
	return false
}
