package offer

import (
	"context"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest/reading"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
)

// Parsing a large manifest needs much memory. [reading.Do] therefore waits until enough memory is free, but not longer
// than until the request ends. Do not call catalog inside [reading.Do]: if all services run in one process, catalog
// needs memory from the same budget, and both would wait for each other.

// parseManifest parses the manifest of a business. Faults: invalid_parameter with the problems of the manifest; the
// faults of [reading.Do].
func parseManifest(ctx context.Context, slug string, text []byte) (*manifest.Manifest, error) {
	var m *manifest.Manifest
	err := reading.Do(ctx, slug, func(stop func() bool) error {
		read, problems, err := manifest.ParseUntil(text, 0, stop)
		if m = read; err == nil && len(problems) > 0 {
			err = manifest.Invalid(problems)
		}
		return err
	}, text)
	return m, err
}

// readDocument parses the manifest of a business and returns it with its text. If the manifest is invalid, readDocument
// returns the problems instead. Faults: the faults of [reading.Do].
func readDocument(ctx context.Context, slug string, text []byte) (*document.Document, []manifest.Problem, error) {
	var read *document.Document
	var problems []manifest.Problem
	err := reading.Do(ctx, slug, func(stop func() bool) error {
		var err error
		read, problems, err = document.ReadUntil(text, stop)
		return err
	}, text)
	return read, problems, err
}

// rewriteFields calls [document.Document.WithFieldsUntil] to write other fields into the text of a manifest. It returns
// the changed document, or the problems of the new fields. Faults: the faults of [reading.Do].
func rewriteFields(ctx context.Context, slug string, d *document.Document,
	fields document.Fields) (*document.Document, []manifest.Problem, error) {
	var changed *document.Document
	var problems []manifest.Problem
	err := reading.Do(ctx, slug, func(stop func() bool) error {
		var err error
		changed, problems, err = d.WithFieldsUntil(fields, stop)
		return err
	}, d.Text, d.Text) // memory for the present text and for the changed text
	return changed, problems, err
}

// FindWarnings returns the warnings that [manifest.Warnings] finds in a published manifest. The argument `now` is the
// current time. The warnings are sorted by line. The result is never nil. Faults: the faults of [reading.Do].
func FindWarnings(ctx context.Context, slug string, text []byte, now time.Time) ([]manifest.Problem, error) {
	found := []manifest.Problem{}
	err := reading.Do(ctx, slug, func(stop func() bool) error {
		warnings, err := manifest.WarningsUntil(text, now, stop)
		found = append(found, warnings...)
		return err
	}, text)
	return found, err
}
