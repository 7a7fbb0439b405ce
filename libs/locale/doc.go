// Package locale prepares the words of a business for a reader (semantics.md §6). It sanitizes HTML of owners, extracts
// its visible text, and matches the language that a reader requests to the languages of the business. It is pure.
package locale
