// Package locale prepares the texts of a business for readers (semantics.md §6). It sanitizes the HTML of owners,
// extracts its visible text, and finds the language of the business that suits a reader. The package does no I/O.
package locale
