package web

import (
	"strings"

	"golang.org/x/text/language"
)

// Languages returns the languages for a reader in order of preference. The argument `chosen` is the language in the
// URL of the page; it comes first, unless it is empty. The argument `accept` is the value of the header
// Accept-Language; at most ten of its languages follow. The argument `own`, the language of the business, comes last.
func Languages(chosen, accept, own string) []string {
	var tags []string
	if chosen != "" {
		tags = append(tags, chosen)
	}
	const longest = 512 // maximal length of a header that is parsed
	if len(accept) <= longest {
		requested, _, err := language.ParseAcceptLanguage(strings.ReplaceAll(accept, "*", "und"))
		for i := 0; err == nil && i < len(requested) && i < 10; i++ {
			tags = append(tags, requested[i].String())
		}
	}
	return append(tags, own)
}
