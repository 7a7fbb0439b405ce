package words

import (
	"golang.org/x/text/language"
	"golang.org/x/text/language/display"
)

// NameOf returns the name of a language in that language, for menus in which
// readers choose a language. It returns the tag if the name is unknown.
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
