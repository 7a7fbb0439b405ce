package web

import (
	"strings"

	"golang.org/x/text/language"
)

// Languages returns the language tags that a reader prefers, the best first: chosen, which is
// in the page's address; at most ten tags of Accept-Language; and own, the business's language.
func Languages(chosen, accept, own string) []string {
	var tags []string
	if chosen != "" {
		tags = append(tags, chosen)
	}
	const longest = 512 // longest header that is parsed
	if len(accept) <= longest {
		wanted, _, err := language.ParseAcceptLanguage(strings.ReplaceAll(accept, "*", "und"))
		for i := 0; err == nil && i < len(wanted) && i < 10; i++ {
			tags = append(tags, wanted[i].String())
		}
	}
	return append(tags, own)
}
