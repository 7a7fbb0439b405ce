// Package customerfile reads customers from CSV files that other programs have exported. It guesses what each column is
// from the words of the first line, in several languages. The package does no I/O.
package customerfile

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"github.com/slotmesh/slotmesh/libs/contracts/customer"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Column is what a column of a file is.
type Column string

// The kinds of columns. A file may have several columns of one kind: names are joined, and all addresses and tags are
// kept.
const (
	Ignored   Column = ""
	Name      Column = "name"
	FirstName Column = "first_name"
	LastName  Column = "last_name"
	Email     Column = "email"
	Phone     Column = "phone"
	Language  Column = "language"
	Notes     Column = "notes"
	Tags      Column = "tags" // several, separated by commas or semicolons
)

// Columns lists all kinds of columns, without [Ignored].
var Columns = []Column{Name, FirstName, LastName, Email, Phone, Language, Notes, Tags}

// Limits of a file.
const (
	MaxBytes   = 2 << 20
	MaxColumns = 100
)

// Problem is a line of a file that is not imported.
type Problem struct {
	Line      int    `json:"line"`
	Message   string `json:"message"`
	IsAddress bool   `json:"-"` // the line has no address, or an invalid one; otherwise a text is too long
}

// Table has the texts of a CSV file.
type Table struct {
	Head  []string
	rows  [][]string
	lines []int // line of each row in the file, from 1
}

// Parse reads a CSV file whose first line names the columns. Values are separated by commas, semicolons or tabs. The
// file is in UTF-8, in UTF-16 with a byte order mark, or otherwise in Windows-1252, as spreadsheet programs write it.
// Fault: invalid_parameter.
func Parse(file []byte) (*Table, error) {
	if len(file) > MaxBytes {
		return nil, fault.Newf(fault.InvalidParameter, "The file is too large; send at most %d MiB.", MaxBytes>>20)
	}
	text, err := decodeText(file)
	if err != nil {
		return nil, fault.New(fault.InvalidParameter, "The file is not text; send a CSV file in UTF-8.")
	}
	reader := csv.NewReader(strings.NewReader(text))
	reader.Comma, reader.FieldsPerRecord, reader.LazyQuotes = findSeparator(text), -1, true
	table := &Table{}
	for {
		row, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fault.New(fault.InvalidParameter, "The file is not well-formed CSV: "+err.Error()+".")
		}
		line, _ := reader.FieldPos(0)
		if table.Head == nil {
			table.Head = row
			continue
		}
		if len(table.rows) == customer.MaxImported {
			return nil, fault.Newf(fault.InvalidParameter, "The file has too many rows; send at most %d.",
				customer.MaxImported)
		}
		table.rows, table.lines = append(table.rows, row), append(table.lines, line)
	}
	switch {
	case len(table.rows) == 0:
		return nil, fault.New(fault.InvalidParameter, "The file has no rows; send a first line with the names of the "+
			"columns, and a line for each customer.")
	case len(table.Head) > MaxColumns:
		return nil, fault.Newf(fault.InvalidParameter, "The file has too many columns; send at most %d.", MaxColumns)
	}
	return table, nil
}

func decodeText(file []byte) (string, error) {
	if bytes.HasPrefix(file, []byte{0xff, 0xfe}) || bytes.HasPrefix(file, []byte{0xfe, 0xff}) {
		text, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewDecoder().Bytes(file)
		return string(text), err
	}
	file = bytes.TrimPrefix(file, []byte{0xef, 0xbb, 0xbf})
	if bytes.ContainsRune(file, 0) {
		return "", errors.New("a NUL character")
	}
	if utf8.Valid(file) {
		return string(file), nil
	}
	text, err := charmap.Windows1252.NewDecoder().Bytes(file)
	return string(text), err
}

// findSeparator returns the separator that occurs most in the first line.
func findSeparator(text string) rune {
	first, _, _ := strings.Cut(text, "\n")
	separator := ','
	for _, r := range ";\t" {
		if strings.Count(first, string(r)) > strings.Count(first, string(separator)) {
			separator = r
		}
	}
	return separator
}

// Read returns the customers of the table, and the lines that are left out. The argument `columns` has the kind of each
// column of the file. Fault: invalid_parameter if no column has addresses.
func (t *Table) Read(columns []Column) ([]customer.Row, []Problem, error) {
	if !slices.Contains(columns, Email) && !slices.Contains(columns, Phone) {
		return nil, nil, fault.New(fault.InvalidParameter, "No column has e-mail addresses or phone numbers; choose one.")
	}
	rows, problems := []customer.Row{}, []Problem{}
	for i, texts := range t.rows {
		row := readRow(t.lines[i], texts, columns)
		if len(row.Name)+len(row.Emails)+len(row.Phones)+len(row.Notes) == 0 {
			continue // an empty line
		}
		if err := row.Normalize(); err != nil {
			problems = append(problems, Problem{t.lines[i], fault.Of(err).Sentence, !hasAddress(row)})
			continue
		}
		rows = append(rows, row)
	}
	return rows, problems, nil
}

// hasAddress reports whether a row has an address, and all its addresses are valid.
func hasAddress(row customer.Row) bool {
	all := slices.Concat(row.Emails, row.Phones)
	return len(all) > 0 && !slices.ContainsFunc(all, func(address string) bool {
		_, err := customer.CheckAddress(address)
		return err != nil
	})
}

func readRow(line int, texts []string, columns []Column) customer.Row {
	row := customer.Row{Line: line, Emails: []string{}, Phones: []string{}, Tags: []string{}}
	var first, last []string
	for i, text := range texts {
		text = strings.TrimSpace(text)
		if i >= len(columns) || text == "" {
			continue
		}
		switch columns[i] {
		case FirstName, Name:
			first = append(first, text)
		case LastName:
			last = append(last, text)
		case Email:
			row.Emails = append(row.Emails, split(text)...)
		case Phone:
			row.Phones = append(row.Phones, text)
		case Language:
			row.Language = text
		case Notes:
			row.Notes = strings.TrimSpace(row.Notes + "\n" + text)
		case Tags:
			row.Tags = append(row.Tags, split(text)...)
		case Ignored:
		}
	}
	row.Name = strings.Join(append(first, last...), " ")
	return row
}

// split separates several values in one cell.
func split(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' || r == '\n' })
}
