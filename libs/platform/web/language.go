package web

import (
	"strings"

	"golang.org/x/text/language"
)

// Languages returns the languages that a reader prefers, the best first. The argument chosen is
// the language in the address of the page. At most ten languages of accept, the Accept-Language
// header, follow. The argument own is the language of the business and is last.
func Languages(chosen, accept, own string) []string {
	var tags []string
	if chosen != "" {
		tags = append(tags, chosen)
	}
	const longest = 512 // longest header that is parsed
	if len(accept) <= longest {
		requested, _, err := language.ParseAcceptLanguage(strings.ReplaceAll(accept, "*", "und"))
		for i := 0; err == nil && i < len(requested) && i < 10; i++ {
			tags = append(tags, requested[i].String())
		}
	}
	return append(tags, own)
}
