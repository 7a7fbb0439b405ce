// Package message says sentences in the reader's own language: one file of data for each of the 36 languages of
// semantics.md §4, with a form for each plural category that CLDR gives the language. It holds those that go by a
// messageCode ([Load]), whose counts are written in the digits that the language has by custom, and reads the files of
// other packages ([Read]).
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

	"github.com/slotmesh/slotmesh/libs/locale"
)

// ID names a sentence.
type ID string

// The sentences. [NotEnoughUnits] counts the units that are free; the others count nothing.
const (
	RentalNotFound     ID = "rental_not_found"
	NotEnoughUnits     ID = "not_enough_units"
	NothingAvailable   ID = "nothing_available"
	DateInPast         ID = "date_in_past"
	BeyondAdvanceLimit ID = "beyond_advance_limit"
	TooShort           ID = "too_short"
	TooLong            ID = "too_long"
	Closed             ID = "closed" // pick-up or return lies outside opening hours
)

// fallback is the language of whoever asks for none that is there.
const fallback = "en"

//go:embed sentences/*.json
var files embed.FS

// Catalog holds sentences in every language of its files. It is safe for many goroutines.
type Catalog struct {
	languages  []string // codes, sorted
	localizers map[string]*i18n.Localizer
	digits     map[string]*textmessage.Printer
	single     map[string]map[string]bool // by language, the sentences that have one form alone, whatever is counted
}

// Load reads the sentences that are built in. Its error is a fault of the data, which the tests find.
func Load() (*Catalog, error) { return Read(files, "sentences") }

// Read reads the sentences of a folder that holds a file <code>.json, in go-i18n's format, for each language.
func Read(from fs.FS, folder string) (*Catalog, error) {
	entries, err := fs.ReadDir(from, folder)
	if err != nil {
		return nil, err
	}
	bundle := i18n.NewBundle(language.English)
	c := &Catalog{localizers: map[string]*i18n.Localizer{}, digits: map[string]*textmessage.Printer{}, single: map[string]map[string]bool{}}
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

// Languages returns the codes of all languages, sorted.
func (c *Catalog) Languages() []string { return slices.Clone(c.languages) }

// Choose returns the language of the first of wanted that is there, as BCP 47 compares tags ("pt-BR" finds pt), else
// English. Empty and unknown ones are passed over.
func (c *Catalog) Choose(wanted ...string) string {
	for _, w := range wanted {
		if _, ok := c.localizers[w]; ok {
			return w
		}
		if code, ok := locale.Match(w, c.languages); ok {
			return code
		}
	}
	return fallback
}

// Say returns a sentence that counts nothing, in one of [Catalog.Languages]. Its error says that the data has none.
func (c *Catalog) Say(code string, id ID) (string, error) { return c.Fill(code, id, nil) }

// Fill returns a sentence that counts nothing, its placeholders filled with data.
func (c *Catalog) Fill(code string, id ID, data map[string]string) (string, error) {
	return c.localize(code, &i18n.LocalizeConfig{MessageID: string(id), TemplateData: data})
}

// FillCount returns a sentence in the plural form of count, from 0 on, its placeholders filled with data. One that has a single form has it
// for every count.
func (c *Catalog) FillCount(code string, id ID, count int, data map[string]string) (string, error) {
	if c.single[code][string(id)] {
		return c.Fill(code, id, data)
	}
	return c.localize(code, &i18n.LocalizeConfig{MessageID: string(id), PluralCount: count, TemplateData: data})
}

// SayCount returns a sentence in the plural form of count, from 0 on. Its error says that the data has none.
func (c *Catalog) SayCount(code string, id ID, count int) (string, error) {
	digits, ok := c.digits[code]
	if !ok {
		return "", unknown(code)
	}
	return c.FillCount(code, id, count, map[string]string{"Count": digits.Sprint(number.Decimal(count))})
}

func (c *Catalog) localize(code string, sentence *i18n.LocalizeConfig) (string, error) {
	localizer, ok := c.localizers[code]
	if !ok {
		return "", unknown(code)
	}
	return localizer.Localize(sentence)
}

func unknown(code string) error { return fmt.Errorf("there are no sentences in language %q", code) }
