// Package locale holds what the words of a business go through on their way to a reader (semantics.md §6): HTML that
// owners wrote is sanitized, its visible text taken, and a language that a reader asks for is matched to those that the
// business offers. It is pure.
package locale
