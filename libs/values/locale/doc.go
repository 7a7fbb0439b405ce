// Package locale prepares the texts of a business for readers (semantics.md §6).
// It sanitizes the HTML that owners write, and extracts the visible text. It also
// selects the language of a business that suits a reader. The package does no I/O.
package locale
