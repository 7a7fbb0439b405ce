package manifest

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// IntroPlaceholders returns the placeholders that [Notifications.Intros] may contain.
func IntroPlaceholders() []string {
	return []string{"{customer_name}", "{service}", "{staff}", "{date}", "{time}", "{business}", "{location}", "{price}",
		"{reference}", "{manage_link}"}
}

// placeholderPattern matches text in braces, and a brace that has no counterpart.
var placeholderPattern = regexp.MustCompile(`\{[^{}]*\}|[{}]`)

// checkIntro checks the translations and the placeholders of a text. The argument `at` is the path of the text.
func (v *validator) checkIntro(at *path, intro Note) {
	checkTranslations(v, at, intro.Translations)
	v.checkPlaceholders(at.field("text"), intro.Text)
	for _, code := range slices.Sorted(maps.Keys(intro.Translations)) {
		v.checkPlaceholders(at.field("translations").field(string(code)).field("text"), intro.Translations[code].Text)
	}
}

// FindUnknownPlaceholder returns the first placeholder in a text that is none of [IntroPlaceholders],
// or the first brace without a counterpart. It returns "" if the text has neither.
func FindUnknownPlaceholder(text string) string {
	for _, placeholder := range placeholderPattern.FindAllString(text, -1) {
		if !slices.Contains(IntroPlaceholders(), placeholder) {
			return placeholder
		}
	}
	return ""
}

func (v *validator) checkPlaceholders(at *path, text string) {
	if unknown := FindUnknownPlaceholder(text); unknown != "" {
		all := strings.Join(IntroPlaceholders(), ", ")
		v.addProblem(at, "contains %s; the placeholders are %s", quote(unknown), all).
			setCode(CodePlaceholder, "Value", shorten(unknown), "Placeholders", all)
	}
}
