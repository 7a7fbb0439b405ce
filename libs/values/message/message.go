// Package message provides sentences in the 36 languages of semantics.md §4. Each language has one data
// file. A sentence with a count has one form for each plural category that CLDR defines for the language.
//
// [Load] returns the sentences of libs/values/message. Their counts use the digits
// that are customary in the language. [Read] reads sentence files of other packages.
package message

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/language"
	textmessage "golang.org/x/text/message"
	"golang.org/x/text/number"

	"github.com/slotmesh/slotmesh/libs/values/locale"
)

// ID identifies a sentence in all languages.
type ID string

// These constants are the ids of the sentences in the folder sentences of this package. The sentence [NotEnoughUnits]
// contains the number of free units; the other sentences contain no number.
const (
	RentalNotFound     ID = "rental_not_found"
	NotEnoughUnits     ID = "not_enough_units"
	NothingAvailable   ID = "nothing_available"
	DateInPast         ID = "date_in_past"
	BeyondAdvanceLimit ID = "beyond_advance_limit"
	TooShort           ID = "too_short"
	TooLong            ID = "too_long"
	Closed             ID = "closed" // pick-up or return is outside opening hours
)

// fallback is the language for readers who request only languages without sentences.
const fallback = "en"

//go:embed sentences/*.json
var files embed.FS

// Catalog holds sentences in several languages. It reads the file of a language when the first sentence of this language
// is requested, because most processes use few languages. Catalog is safe for concurrent use.
type Catalog struct {
	languages []string // language codes, sorted
	readers   map[string]func() (*sentences, error)
}

// sentences are the sentences of one language.
type sentences struct {
	byID   map[ID]sentence
	find   func(n int) category // the plural rule of the language
	digits *textmessage.Printer
}

// sentence has one text for all counts, or a text for each plural category.
type sentence struct {
	single string
	forms  map[category]string // nil if there is one text
}

// UnmarshalJSON reads a text, or an object with a text for each category.
func (s *sentence) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &s.single)
	}
	if err := json.Unmarshal(data, &s.forms); err != nil {
		return err
	}
	if single, ok := s.forms[other]; ok && len(s.forms) == 1 {
		*s = sentence{single: single}
	}
	return nil
}

// Load reads the sentences of this package. It returns an error only if the data is invalid, which tests detect.
func Load() (*Catalog, error) { return Read(files, "sentences") }

// Read prepares a folder of sentence files. The folder has one JSON file per language, <code>.json. The file maps the id
// of each sentence to a text, or to texts by plural category. In a text, {{.Name}} is a placeholder.
func Read(from fs.FS, folder string) (*Catalog, error) {
	entries, err := fs.ReadDir(from, folder)
	if err != nil {
		return nil, err
	}
	c := &Catalog{readers: map[string]func() (*sentences, error){}}
	for _, entry := range entries {
		code := strings.TrimSuffix(entry.Name(), ".json")
		c.languages = append(c.languages, code)
		c.readers[code] = sync.OnceValues(func() (*sentences, error) {
			return readLanguage(from, path.Join(folder, entry.Name()), code)
		})
	}
	return c, nil
}

func readLanguage(from fs.FS, file, code string) (*sentences, error) {
	content, err := fs.ReadFile(from, file)
	if err != nil {
		return nil, err
	}
	s := &sentences{find: plurals[code], digits: textmessage.NewPrinter(language.Make(code))}
	if s.find == nil {
		return nil, fmt.Errorf("%s: there is no plural rule for this language", file)
	}
	if err := json.Unmarshal(content, &s.byID); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// Languages returns the codes of all languages of the catalog, sorted.
func (c *Catalog) Languages() []string { return slices.Clone(c.languages) }

// Choose returns the language of the catalog that suits the reader best. The arguments are the BCP 47 tags that the
// reader prefers, best first. Choose returns the match for the first tag that has a match; for example, pt-BR matches
// pt. It skips empty and unknown tags. If no tag matches, it returns English.
func (c *Catalog) Choose(tags ...string) string {
	for _, w := range tags {
		if _, ok := c.readers[w]; ok {
			return w
		}
		if code, ok := locale.Match(w, c.languages); ok {
			return code
		}
	}
	return fallback
}

// Say returns the sentence with the given id in the language `code`, which is one of [Catalog.Languages]. The sentence
// contains no count. Say returns an error if the sentence does not exist.
func (c *Catalog) Say(code string, id ID) (string, error) { return c.Fill(code, id, nil) }

// Fill returns the sentence with the given id, which contains no count. Fill replaces the placeholders with the values
// in `data`. It returns an error if the sentence does not exist.
func (c *Catalog) Fill(code string, id ID, data map[string]string) (string, error) {
	s, err := c.read(code)
	if err != nil {
		return "", err
	}
	return s.fill(id, other, data)
}

// FillCount returns the sentence with the given id in the plural form for `count`, which is at least 0. It replaces the
// placeholders with the values in `data`. If a sentence has a single form, this form is used for every count.
func (c *Catalog) FillCount(code string, id ID, count int, data map[string]string) (string, error) {
	s, err := c.read(code)
	if err != nil {
		return "", err
	}
	return s.fill(id, s.find(count), data)
}

// SayCount returns the sentence with the given id in the plural form for `count`, which is at least 0. It replaces the
// placeholder `{{.Count}}` with `count`, in the digits of the language. It returns an error if the sentence does not
// exist.
func (c *Catalog) SayCount(code string, id ID, count int) (string, error) {
	s, err := c.read(code)
	if err != nil {
		return "", err
	}
	return s.fill(id, s.find(count), map[string]string{"Count": s.digits.Sprint(number.Decimal(count))})
}

func (c *Catalog) read(code string) (*sentences, error) {
	read, ok := c.readers[code]
	if !ok {
		return nil, fmt.Errorf("there are no sentences in language %q", code)
	}
	return read()
}

// fill returns a sentence in the form of a plural category, with the values in `data` in the place of its placeholders.
// A placeholder without a value remains in the sentence.
func (s *sentences) fill(id ID, form category, data map[string]string) (string, error) {
	found, ok := s.byID[id]
	text := found.single
	if found.forms != nil {
		text, ok = found.forms[form]
	}
	if !ok {
		return "", fmt.Errorf("there is no sentence %q with the form %q", id, form)
	}
	var out strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{{.")
		name, after, closed := strings.Cut(rest, "}}")
		value, known := data[name]
		if !found || !closed {
			out.WriteString(text)
			return out.String(), nil
		}
		out.WriteString(before)
		if !known {
			value = "{{." + name + "}}"
		}
		out.WriteString(value)
		text = after
	}
}
