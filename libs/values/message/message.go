// Package message provides sentences in the 36 languages of semantics.md §4. Each language has one data
// file. A sentence with a count has one form for each plural category that CLDR defines for the language.
//
// [Load] returns the sentences of libs/values/message. Their counts use the digits
// that are customary in the language. [Read] reads sentence files of other packages.
package message

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/nicksnyder/go-i18n/v2/i18n"
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

// Catalog holds sentences in several languages. It is safe for concurrent use.
type Catalog struct {
	languages  []string // language codes, sorted
	localizers map[string]*i18n.Localizer
	digits     map[string]*textmessage.Printer
	single     map[string]map[string]bool // by language: ids of sentences with a single form for all counts
}

// Load reads the sentences of this package. It returns an error only if the data is invalid, which tests detect.
func Load() (*Catalog, error) { return Read(files, "sentences") }

// Read reads a folder of sentence files. The folder has one file per language, <code>.json, in the format of go-i18n.
func Read(from fs.FS, folder string) (*Catalog, error) {
	entries, err := fs.ReadDir(from, folder)
	if err != nil {
		return nil, err
	}
	bundle := i18n.NewBundle(language.English)
	c := &Catalog{localizers: map[string]*i18n.Localizer{}, digits: map[string]*textmessage.Printer{},
		single: map[string]map[string]bool{}}
	for _, entry := range entries {
		file, err := bundle.LoadMessageFileFS(from, path.Join(folder, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", entry.Name(), err)
		}
		code := strings.TrimSuffix(entry.Name(), ".json")
		c.languages, c.single[code] = append(c.languages, code), map[string]bool{}
		for _, m := range file.Messages {
			c.single[code][m.ID] = m.Zero+m.One+m.Two+m.Few+m.Many == ""
		}
	}
	for _, code := range c.languages {
		c.localizers[code] = i18n.NewLocalizer(bundle, code)
		c.digits[code] = textmessage.NewPrinter(language.Make(code))
	}
	return c, nil
}

// Languages returns the codes of all languages of the catalog, sorted.
func (c *Catalog) Languages() []string { return slices.Clone(c.languages) }

// Choose returns the language of the catalog that suits the reader best. The arguments are the BCP 47 tags that the
// reader prefers, best first. Choose returns the match for the first tag that has a match; for example, pt-BR matches
// pt. It skips empty and unknown tags. If no tag matches, it returns English.
func (c *Catalog) Choose(tags ...string) string {
	for _, w := range tags {
		if _, ok := c.localizers[w]; ok {
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
	return c.localize(code, &i18n.LocalizeConfig{MessageID: string(id), TemplateData: data})
}

// FillCount returns the sentence with the given id in the plural form for `count`, which is at least 0. It replaces the
// placeholders with the values in `data`. If a sentence has a single form, this form is used for every count.
func (c *Catalog) FillCount(code string, id ID, count int, data map[string]string) (string, error) {
	if c.single[code][string(id)] {
		return c.Fill(code, id, data)
	}
	return c.localize(code, &i18n.LocalizeConfig{MessageID: string(id), PluralCount: count, TemplateData: data})
}

// SayCount returns the sentence with the given id in the plural form for `count`, which is at least 0. It replaces the
// placeholder `{{.Count}}` with `count`, in the digits of the language. It returns an error if the sentence does not
// exist.
func (c *Catalog) SayCount(code string, id ID, count int) (string, error) {
	digits, ok := c.digits[code]
	if !ok {
		return "", newUnknownLanguage(code)
	}
	return c.FillCount(code, id, count, map[string]string{"Count": digits.Sprint(number.Decimal(count))})
}

func (c *Catalog) localize(code string, sentence *i18n.LocalizeConfig) (string, error) {
	localizer, ok := c.localizers[code]
	if !ok {
		return "", newUnknownLanguage(code)
	}
	return localizer.Localize(sentence)
}

func newUnknownLanguage(code string) error {
	return fmt.Errorf("there are no sentences in language %q", code)
}
