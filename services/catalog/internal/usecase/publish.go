package usecase

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest/reading"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/locale"
	"github.com/slotmesh/slotmesh/services/catalog/internal/public"
	"github.com/slotmesh/slotmesh/services/catalog/internal/ready"
	"github.com/slotmesh/slotmesh/services/catalog/internal/store"
)

// Publish makes a manifest, written in YAML or JSON, the newest version of the business with this slug. If `ifMatch` is
// not nil, Publish requires that `ifMatch` is the number of the newest version; 0 means that the business is not
// published. If `binds` is true, the payment accounts in the manifest are bound to the business, unless another
// business uses them. Only operators may set binds.
//
// Faults: invalid_parameter, with the list of [manifest.Problem] under "problems" in its Extra; forbidden if a
// payment account is not bound to the business; precondition_failed if `ifMatch` is not the newest version;
// payload_too_large; conflict if the business is removed during the call; service_unavailable if the manifest
// cannot be checked before ctx ends; the faults of postgres.WriteIdempotently; and the fault of [Owner.Announce].
func (o *Owner) Publish(ctx context.Context, slug string, source []byte, ifMatch *int64,
	binds bool) (store.Published, error) {
	var checked store.Content
	predecessors, err := o.check(ctx, slug, source, func(ctx context.Context, r *reviewed) error {
		var err error
		checked, err = newContent(ctx, r, source)
		return err
	})
	if err != nil {
		return store.Published{}, err
	}
	published, err := o.Store.Publish(ctx, slug, checked, ifMatch, binds, o.Clock.Now())
	if err != nil {
		return store.Published{}, o.newRefusal(ctx, slug, source, predecessors, err)
	}
	return published, o.Announce(ctx, "published", slug, published.BusinessID, published.Version)
}

// Compile returns the version and the snapshot that [Owner.Publish] would create from the manifest. It
// stores nothing. Faults: invalid_parameter, payload_too_large and service_unavailable, as in Publish.
func (o *Owner) Compile(ctx context.Context, slug string, source []byte) (*ready.Version, error) {
	var compiled *ready.Version
	_, err := o.check(ctx, slug, source, func(_ context.Context, r *reviewed) error {
		compiled = r.compiled
		return nil
	})
	return compiled, err
}

// reviewed is a valid manifest with its compiled version. The field
// `pictures` holds, by id, the pictures that the manifest shows.
type reviewed struct {
	manifest *manifest.Manifest
	pictures map[string]catalog.Picture
	compiled *ready.Version
}

// check parses and compiles a manifest before a publish, because catalog must be able to serve every
// published version. It passes the manifest and the compiled version to the function `publish`. While `publish`
// runs, memory for the two results is reserved ([reading.Do]). check stops when the request ends.
//
// check returns how many removed businesses had the slug before. If a
// manifest has no id, its id is derived from the slug and this number.
func (o *Owner) check(ctx context.Context, slug string, source []byte, publish func(context.Context,
	*reviewed) error) (int, error) {
	if len(source) > manifest.MaxBytes {
		return 0, fault.Newf(fault.PayloadTooLarge, "The manifest is too large; send at most %d bytes.",
			manifest.MaxBytes)
	}
	predecessors, err := o.Store.Predecessors(ctx, slug)
	if err != nil {
		return 0, err
	}
	ctx, span := o.Telemetry.Tracer.Start(ctx, "catalog.check")
	defer span.End()
	err = reading.Do(ctx, slug, func(stop func() bool) error {
		m, err := compileManifest(slug, source, predecessors, stop)
		if err != nil {
			return err
		}
		pictures, err := o.pictures(ctx, m, source)
		if err != nil {
			return err
		}
		compiled, err := ready.New(m, pictures, 1)
		if err != nil {
			return err
		}
		return publish(ctx, &reviewed{m, pictures, compiled})
	}, source)
	return predecessors, err
}

// pictures returns the pictures that the manifest shows, by id. Fault: invalid_parameter,
// with a problem for each id that is not an uploaded picture of the business.
func (o *Owner) pictures(ctx context.Context, m *manifest.Manifest, source []byte) (map[string]catalog.Picture,
	error) {
	uses := m.PictureUses()
	if len(uses) == 0 {
		return nil, nil
	}
	ids := make([]string, len(uses))
	for i, use := range uses {
		ids[i] = string(use.ID)
	}
	pictures, err := o.Store.Pictures(ctx, m.BusinessID(), ids)
	if err != nil {
		return nil, err
	}
	var problems []manifest.Problem
	for _, use := range uses {
		if _, ok := pictures[string(use.ID)]; !ok && len(problems) < manifest.MaxProblems {
			before, _, _ := bytes.Cut(source, []byte(use.ID))
			problems = append(problems, manifest.Problem{Path: use.Path, Line: 1 + bytes.Count(before, []byte("\n")),
				Message: fmt.Sprintf("the business has no picture %s; upload the picture and write its id", use.ID)})
		}
	}
	if len(problems) > 0 {
		return nil, manifest.Invalid(problems)
	}
	return pictures, nil
}

// compileManifest parses a manifest. The argument `predecessors` is the number of removed businesses
// that had the slug. Soon after the function `stop` returns true, compileManifest returns [manifest.ErrStopped].
func compileManifest(slug string, source []byte, predecessors int, stop func() bool) (*manifest.Manifest, error) {
	m, problems, err := manifest.ParseUntil(source, predecessors, stop)
	if err != nil {
		return nil, err
	}
	if len(problems) > 0 {
		return nil, manifest.Invalid(problems)
	}
	if string(m.Slug) != slug {
		return nil, manifest.Invalid([]manifest.Problem{{Path: "slug", Line: findLine("slug", source),
			Message: fmt.Sprintf("the manifest says %s and the path says %q; publish it under its own slug", m.Slug,
				slug)}})
	}
	return m, nil
}

// newContent returns the columns that the store keeps of a manifest: the
// source, the canonical JSON, the sanitized JSON, and the pictures.
func newContent(ctx context.Context, r *reviewed, source []byte) (store.Content, error) {
	m := r.manifest
	canonical, err := json.Marshal(m)
	if err != nil {
		return store.Content{}, fmt.Errorf("encode manifest: %w", err)
	}
	clean, ok := public.SanitizeUntil(m, func() bool { return ctx.Err() != nil })
	if !ok {
		return store.Content{}, manifest.ErrStopped
	}
	sanitized, err := json.Marshal(clean)
	if err != nil {
		return store.Content{}, fmt.Errorf("encode sanitized manifest: %w", err)
	}
	if bytes.Equal(sanitized, canonical) {
		sanitized = nil
	}
	var pictures []byte
	if len(r.pictures) > 0 {
		if pictures, err = json.Marshal(r.pictures); err != nil {
			return store.Content{}, fmt.Errorf("encode pictures: %w", err)
		}
	}
	return store.Content{
		BusinessID: m.BusinessID(), Name: string(m.Name), Format: formatOf(source), Source: source,
		Canonical: canonical, Pictures: pictures,
		Sanitizer: locale.Sanitizer, Sanitized: sanitized,
	}, nil
}

// formatOf returns the format of source, YAML or JSON. [manifest.Parse] distinguishes the formats in the same way.
func formatOf(source []byte) string {
	if bytes.HasPrefix(bytes.TrimLeft(bytes.TrimPrefix(source, []byte("\ufeff")), " \t\r\n"), []byte("{")) {
		return store.JSON
	}
	return store.YAML
}

// newRefusal converts an error of [Store.Publish] to the fault for the caller. The id of a manifest without an
// id depends on how many removed businesses had the slug. If a removal changed this number during the
// publish, the id is outdated. In this case, newRefusal returns a fault with code conflict.
func (o *Owner) newRefusal(ctx context.Context, slug string, source []byte, predecessors int, err error) error {
	problem := manifest.Problem{Path: "id", Line: findLine("id", source)}
	if changed, ok := errors.AsType[store.IDChangedError](err); ok {
		problem.Message = fmt.Sprintf("a business keeps its id for good, and this one was published as %s; write "+
			"that id", changed.Known)
	} else if errors.Is(err, store.ErrIDTaken) {
		problem.Message = "another business, which may be removed, was published with this id; write an id of its " +
			"own or leave it out"
	} else {
		return Fault(err)
	}
	if predecessorsNow, e := o.Store.Predecessors(ctx, slug); e == nil && predecessorsNow != predecessors {
		return fault.Wrap(fault.Conflict, err,
			"The business was removed while its manifest was read; publish it again.")
	}
	return manifest.Invalid([]manifest.Problem{problem})
}

// findLine returns the line number of a top-level field of a YAML document, or 1 if the document does not have the
// field.
func findLine(field string, source []byte) int {
	at := regexp.MustCompile(`(?m)^` + field + `\s*:`).FindIndex(source)
	if at == nil {
		return 1
	}
	return 1 + bytes.Count(source[:at[0]], []byte("\n"))
}
