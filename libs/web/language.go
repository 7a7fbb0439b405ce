package web

import (
	"strings"

	"golang.org/x/text/language"
)

// Languages are the tags that a reader wants, the best first: the one that the page's address names, then those of Accept-Language, at
// most ten, then the business's own.
func Languages(chosen, accept, own string) []string {
	var tags []string
	if chosen != "" {
		tags = append(tags, chosen)
	}
	const longest = 512 // of a header that is read
	if len(accept) <= longest {
		wanted, _, err := language.ParseAcceptLanguage(strings.ReplaceAll(accept, "*", "und"))
		for i := 0; err == nil && i < len(wanted) && i < 10; i++ {
			tags = append(tags, wanted[i].String())
		}
	}
	return append(tags, own)
}
