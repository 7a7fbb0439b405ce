package changes

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// mostWords is the maximum number of characters of one value in a summary.
const mostWords = 60

// inWords returns the description of the change for [Change.Summary]. The description does not name the path.
func (c *Change) inWords() string {
	switch c.Change {
	case Added:
		return "new: " + Words(c.After)
	case Removed:
		return "no longer: " + Words(c.Before)
	}
	return fmt.Sprintf("%s becomes %s", Words(c.Before), Words(c.After))
}

// Words formats a value of a manifest for a person, in at most mostWords characters. For an object, Words returns the
// name of the object; for a list, Words returns the values of the list, separated by commas.
func Words(value any) string {
	text := []rune(strings.Join(strings.Fields(words(value)), " "))
	if len(text) > mostWords {
		return string(text[:mostWords]) + "…"
	}
	return string(text)
}

func words(value any) string {
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
		return listInWords(v)
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = words(v[i])
		}
		return listInWords(parts)
	case map[string]any:
		return objectInWords(v)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return "something"
	}
	return string(text)
}

func listInWords(parts []string) string {
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

func objectInWords(v map[string]any) string {
	for _, called := range []string{"name", "label", "key"} {
		if name, ok := v[called].(string); ok {
			return name
		}
	}
	parts := make([]string, 0, len(v))
	for field, value := range v {
		parts = append(parts, strings.ReplaceAll(field, "_", " ")+" "+words(value))
	}
	slices.Sort(parts)
	return listInWords(parts)
}
