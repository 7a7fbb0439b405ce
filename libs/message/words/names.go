package words

import (
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// NameOf is a language's name in itself, as a list of languages shows it; the tag where that is not known.
func NameOf(tag string) string {
	parsed, err := language.Parse(tag)
	if err != nil {
		return tag
	}
	if name := display.Self.Name(parsed); name != "" {
		return name
	}
	return tag
}
