package locale

// Field returns the text of one field in lang: its translation, or where that is missing or empty the field's default
// content (semantics.md §6). lang is written as [Match] returned it; empty, it asks for the default.
func Field(translations map[string]string, lang, otherwise string) string {
	if text := translations[lang]; text != "" {
		return text
	}
	return otherwise
}
