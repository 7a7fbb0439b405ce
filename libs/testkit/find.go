package testkit

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Rows returns all rows of all tables in the schema of the pool. Each row is a text
// that begins with the name of the table. Values of type bytea are hexadecimal.
func Rows(t testing.TB, pool *pgxpool.Pool) []string {
	t.Helper()
	read := func(sql string) []string {
		rows, _ := pool.Query(t.Context(), sql) // CollectRows returns the error of this query
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		return lines
	}
	var all []string
	for _, table := range read(`SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()`) {
		for _, row := range read("SELECT t::text FROM " + pgx.Identifier{table}.Sanitize() + " t") {
			all = append(all, table+": "+row)
		}
	}
	return all
}

// FindInTables returns the given words that occur in a row of a table, by the rules of [Find].
func FindInTables(t testing.TB, pool *pgxpool.Pool, words ...string) []string {
	t.Helper()
	return Find(strings.Join(Rows(t, pool), "\n"), words...)
}

// Find returns the given words that occur in a text, ignoring case. It also finds words in hexadecimal or base64
// encoding. In base64, it finds three spellings of a word: as given, in lower case, and with a capital first letter.
func Find(text string, words ...string) []string {
	small := strings.ToLower(text)
	return slices.DeleteFunc(slices.Clone(words), func(word string) bool {
		lower := strings.ToLower(word)
		if strings.Contains(small, lower) {
			return false
		}
		for _, spelled := range []string{word, lower, strings.ToUpper(lower[:1]) + lower[1:]} {
			if strings.Contains(small, hex.EncodeToString([]byte(spelled))) || inBase64(text, spelled) {
				return false
			}
		}
		return true
	})
}

// inBase64 reports whether the text contains the base64 encoding of a word. It compares
// only the characters that do not depend on the bytes before and after the word.
func inBase64(text, word string) bool {
	for before := range 3 {
		whole := []byte(strings.Repeat("x", before) + word)
		first, end := (before*8+5)/6, len(whole)*8/6
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			if strings.Contains(text, encoding.EncodeToString(whole)[first:end]) {
				return true
			}
		}
	}
	return false
}
