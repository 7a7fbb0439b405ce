package usecase

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/periodic"
	"github.com/slotmesh/slotmesh/libs/platform/telemetry"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/catalog/internal/media"
	"github.com/slotmesh/slotmesh/services/catalog/internal/media/files"
	"github.com/slotmesh/slotmesh/services/catalog/internal/store"
)

const (
	// sweepEvery is the interval at which each replica removes unused pictures and files.
	sweepEvery = time.Hour
	// keepFiles is how long the files of an upload are kept if no business has the picture.
	keepFiles = time.Hour
)

// Pictures adds pictures to businesses, serves and removes them.
type Pictures struct {
	Store     *store.Store
	Files     files.Store // nil if there is no store; uploads are then refused
	Processor *media.Processor
	Limits    store.PictureLimits
	// KeepUnused is how long a picture is kept if no version shows it.
	KeepUnused time.Duration
	Clock      clock.Clock
	Telemetry  *telemetry.Telemetry

	uploads metric.Int64Counter
}

// Prepare makes p ready for use, after its fields are set.
func (p *Pictures) Prepare() *Pictures {
	p.uploads = p.Telemetry.Counter("slotmesh.catalog.media.uploads", "Uploads of pictures by their result.")
	return p
}

// Add adds an uploaded file to the pictures of a business. If the business has uploaded the same
// file before, Add returns the existing picture. Faults: business_not_found; invalid_parameter
// if the file is no accepted picture; payload_too_large; conflict if the business has too many
// pictures or the platform has no store for pictures; service_unavailable.
func (p *Pictures) Add(ctx context.Context, of store.BusinessRef, file []byte) (catalog.UploadedPicture, error) {
	picture, result, err := p.add(ctx, of, file)
	p.uploads.Add(ctx, 1, metric.WithAttributes(attribute.String("result", result)))
	if err == nil {
		p.Telemetry.Logger.InfoContext(ctx, "picture uploaded", "slug", of.Slug, "picture", picture.ID, "bytes",
			picture.Bytes, "result", result)
	}
	return picture, err
}

func (p *Pictures) add(ctx context.Context, of store.BusinessRef, file []byte) (catalog.UploadedPicture, string,
	error) {
	none := catalog.UploadedPicture{}
	if p.Files == nil {
		return none, "refused", fault.New(fault.Conflict, catalog.NoPictureStore)
	}
	none.ID = media.ID(file)
	if err := p.Store.CheckLimits(ctx, of, none, p.Limits); err != nil {
		return none, "refused", p.fault(err)
	}
	if known, err := p.Store.Picture(ctx, of.Slug, none.ID); err == nil {
		return known, "known", nil
	}
	made, err := p.Processor.Process(ctx, bytes.NewReader(file))
	if err != nil {
		return none, resultOf(err), p.fault(err)
	}
	if err := p.write(ctx, made); err != nil {
		return none, "failed", p.fault(err)
	}
	added := catalog.UploadedPicture{
		Picture: catalog.Picture{ID: made.ID, Width: made.Width, Height: made.Height, Colour: made.Colour},
		MIME:    made.MIME, Bytes: made.Bytes(), CreatedAt: p.Clock.Now().UTC(),
	}
	if _, err := p.Store.AddPicture(ctx, of, added, p.Limits); err != nil {
		return none, resultOf(err), p.fault(err)
	}
	return added, "stored", nil
}

// write writes the files of a picture.
func (p *Pictures) write(ctx context.Context, made media.Picture) error {
	if err := p.Store.TouchFile(ctx, made.ID, p.Clock.Now()); err != nil {
		return err
	}
	for _, f := range made.Files {
		if err := errors.Join(p.Files.Put(ctx, catalog.PictureFile(made.ID, f.Width, "webp"), f.WebP),
			p.Files.Put(ctx, catalog.PictureFile(made.ID, f.Width, "jpg"), f.JPEG)); err != nil {
			return fault.Wrap(fault.PeerUnavailable, err, "The picture could not be stored; try again shortly.")
		}
	}
	return nil
}

// resultOf returns the result of a failed upload for the metric.
func resultOf(err error) string {
	var refused media.RefusedError
	switch {
	case errors.As(err, &refused), errors.Is(err, store.ErrTooManyPictures), errors.Is(err, store.ErrNotFound):
		return "refused"
	case errors.Is(err, media.ErrBusy):
		return "busy"
	}
	return "failed"
}

func (p *Pictures) fault(err error) error {
	var refused media.RefusedError
	switch {
	case errors.Is(err, media.ErrTooManyBytes):
		return fault.New(fault.PayloadTooLarge, "file: "+string(media.ErrTooManyBytes))
	case errors.As(err, &refused):
		return fault.New(fault.InvalidParameter, "file: "+string(refused))
	case errors.Is(err, media.ErrBusy):
		busy := fault.Wrap(fault.PeerUnavailable, err, "Other pictures are being processed; try again shortly.")
		busy.RetryAfter = 5 * time.Second
		return busy
	case errors.Is(err, store.ErrTooManyPictures):
		return fault.Newf(fault.Conflict, "The business has as many pictures as it may: %d, or %d MB. Delete some first.",
			p.Limits.Pictures, p.Limits.Bytes>>20)
	case errors.Is(err, store.ErrNoPicture):
		return fault.New(fault.NotFound, "Picture not found")
	case errors.Is(err, store.ErrPictureUsed):
		return fault.New(fault.Conflict, "The business shows this picture; remove it from the manifest first.")
	}
	return Fault(err)
}

// List returns one page of the pictures of the business with this slug. Fault: business_not_found.
func (p *Pictures) List(ctx context.Context, slug, after string, limit int) ([]catalog.UploadedPicture, error) {
	list, err := p.Store.ListPictures(ctx, slug, after, limit)
	if err != nil {
		return nil, p.fault(err)
	}
	return list, nil
}

// Delete removes a picture of a business. Faults: business_not_found;
// not_found; conflict if the newest version shows the picture.
func (p *Pictures) Delete(ctx context.Context, of store.BusinessRef, id string) error {
	if err := p.Store.DeletePicture(ctx, of, id); err != nil {
		return p.fault(err)
	}
	p.Telemetry.Logger.InfoContext(ctx, "picture deleted", "slug", of.Slug, "picture", id)
	return nil
}

// File returns a file of a picture. Fault: not_found.
func (p *Pictures) File(ctx context.Context, id string, width int, format string) ([]byte, error) {
	missing := fault.New(fault.NotFound, "Picture not found")
	if p.Files == nil {
		return nil, missing
	}
	content, err := p.Files.Get(ctx, catalog.PictureFile(id, width, format))
	if errors.Is(err, fs.ErrNotExist) && width == catalog.PictureWidths[0] { // uploaded before this width existed
		return p.File(ctx, id, catalog.PictureWidths[1], format)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, missing
	}
	if err != nil {
		return nil, fault.Wrap(fault.PeerUnavailable, err, "The picture could not be read; try again shortly.")
	}
	return content, nil
}

// Run removes unused pictures and their files every hour, until ctx ends.
func (p *Pictures) Run(ctx context.Context) error {
	return periodic.Job{Every: sweepEvery, Timeout: 10 * time.Minute, FailureMessage: "unused pictures stay for now",
		Do: p.Sweep}.Run(ctx, p.Telemetry.Logger)
}

// Sweep removes the pictures that were uploaded more than KeepUnused ago and that
// no version shows. It also removes the files of pictures that no business has.
func (p *Pictures) Sweep(ctx context.Context) error {
	if p.Files == nil {
		return nil
	}
	now := p.Clock.Now()
	pictures, err := p.Store.SweepPictures(ctx, now.Add(-p.KeepUnused))
	if err != nil {
		return err
	}
	removed, err := p.Store.SweepFiles(ctx, now.Add(-keepFiles), func(ctx context.Context, id string) error {
		var errs []error
		for _, name := range catalog.PictureFiles(id) {
			errs = append(errs, p.Files.Delete(ctx, name))
		}
		return errors.Join(errs...)
	})
	if pictures > 0 || removed > 0 {
		p.Telemetry.Logger.InfoContext(ctx, "unused pictures removed", "pictures", pictures, "files", removed)
	}
	return err
}
