package changes

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// maxSummaryLength is the maximum number of characters of one value in a summary.
const maxSummaryLength = 60

// describe returns the description of the change for [Change.Summary]. The description does not name the path.
func (c *Change) describe() string {
	switch c.Change {
	case Added:
		return "new: " + FormatValue(c.After)
	case Removed:
		return "no longer: " + FormatValue(c.Before)
	}
	return fmt.Sprintf("%s becomes %s", FormatValue(c.Before), FormatValue(c.After))
}

// FormatValue formats a value of a manifest for a person, in at most maxSummaryLength characters. For an object,
// FormatValue returns the name of the object; for a list, FormatValue returns the values of the list, separated by
// commas.
func FormatValue(value any) string {
	text := []rune(strings.Join(strings.Fields(formatValue(value)), " "))
	if len(text) > maxSummaryLength {
		return string(text[:maxSummaryLength]) + "…"
	}
	return string(text)
}

func formatValue(value any) string {
	switch v := value.(type) {
	case nil:
		return "nothing"
	case string:
		if v == "" {
			return "nothing"
		}
		return v
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case []string:
		return formatList(v)
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = formatValue(v[i])
		}
		return formatList(parts)
	case map[string]any:
		return formatObject(v)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "something"
	}
	return string(text)
}

func formatList(parts []string) string {
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

func formatObject(v map[string]any) string {
	for _, called := range []string{"name", "label", "key"} {
		if name, ok := v[called].(string); ok {
			return name
		}
	}
	parts := make([]string, 0, len(v))
	for field, value := range v {
		parts = append(parts, strings.ReplaceAll(field, "_", " ")+" "+formatValue(value))
	}
	slices.Sort(parts)
	return formatList(parts)
}
