// Package media turns an uploaded file into pictures that are safe to show on the business's pages.
//
// [Processor.Process] reads the size from the header of the file, and refuses files whose decoding needs too much
// memory. It decodes one file at a time, turns the picture upright, scales it and encodes it again. The result
// contains only pixels: no metadata, no location where the photo was taken, and no bytes of the uploaded file.
package media

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/catalog/internal/media/codec"
)

// Limits of an uploaded file.
const (
	// MaxBytes is the maximum size of a file.
	MaxBytes = catalog.MaxPictureBytes
	// maxPixels is the maximum number of pixels that a file may declare.
	maxPixels = 50_000_000
	// maxDecoding is the maximum memory for the decoded picture, in bytes. A photo of 48 megapixels needs 72 MB.
	maxDecoding = 192 << 20
	// maxScans is the maximum number of scans of a progressive JPEG. Each scan may visit all pixels.
	maxScans = 200
)

const (
	// waitFor is how long Process waits for another file that is being processed.
	waitFor = 10 * time.Second
	// processFor is how long the processing of one file may take.
	processFor = 30 * time.Second

	webpQuality = 75
	jpegQuality = 82
)

// Picture is the result for one uploaded file.
type Picture struct {
	// ID is the SHA-256 of the uploaded file, in hexadecimal.
	ID string
	// MIME is the type of the uploaded file.
	MIME string
	// Width and Height are the size of the upright original, in pixels.
	Width, Height int
	// Colour is the most frequent colour, such as #aabbcc.
	Colour string
	// Files has one entry for each of [catalog.PictureWidths], in the same order.
	Files []File
}

// Bytes returns the total size of the picture's files.
func (p Picture) Bytes() int64 {
	var sum int64
	for _, f := range p.Files {
		sum += int64(len(f.WebP) + len(f.JPEG))
	}
	return sum
}

// File is an uploaded picture, scaled to one of [catalog.PictureWidths], in two formats.
type File struct {
	Width      int
	WebP, JPEG []byte
}

// RefusedError reports that the file cannot be used. The text of the error is a sentence for people.
type RefusedError string

// Error returns the sentence.
func (e RefusedError) Error() string { return string(e) }

// ErrTooManyBytes reports that the file has more than [MaxBytes] bytes.
const ErrTooManyBytes RefusedError = "The file is larger than 10 MB. Save the picture in a smaller size."

// ErrBusy reports that other files occupied the processor for too long.
var ErrBusy = errors.New("other pictures are being processed")

// Processor processes one file at a time.
type Processor struct {
	place      *semaphore.Weighted
	waitFor    time.Duration
	processFor time.Duration
}

// NewProcessor returns a Processor. A process needs only one.
func NewProcessor() *Processor {
	return &Processor{place: semaphore.NewWeighted(1), waitFor: waitFor, processFor: processFor}
}

// Process reads a file and returns its picture. Errors: [RefusedError], [ErrBusy], and the error of ctx.
func (p *Processor) Process(ctx context.Context, r io.Reader) (Picture, error) {
	file, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return Picture{}, fmt.Errorf("read a picture: %w", err)
	}
	if len(file) > MaxBytes {
		return Picture{}, ErrTooManyBytes
	}
	header, err := readHeader(file)
	if err != nil {
		return Picture{}, err
	}
	if err := p.enter(ctx); err != nil {
		return Picture{}, err
	}
	defer p.place.Release(1)
	limited, cancel := context.WithTimeout(ctx, p.processFor)
	defer cancel()
	picture := Picture{ID: ID(file), MIME: "image/" + string(header.format)}
	err = fault.Guard(func() error { return picture.fill(limited, file, header) })
	switch {
	case err == nil:
		return picture, nil
	case ctx.Err() != nil:
		return Picture{}, ctx.Err()
	case limited.Err() != nil:
		return Picture{}, RefusedError("The picture takes too long to read. Save it again as JPEG or PNG.")
	}
	return Picture{}, err
}

// ID returns the id of an uploaded file.
func ID(file []byte) string {
	sum := sha256.Sum256(file)
	return hex.EncodeToString(sum[:])
}

// enter waits until no other file is being processed. If that takes longer than p.waitFor, enter returns [ErrBusy].
func (p *Processor) enter(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, p.waitFor)
	defer cancel()
	if p.place.Acquire(waiting, 1) == nil {
		return nil
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return ErrBusy
}

// fill decodes the file and sets the fields that depend on its pixels.
func (p *Picture) fill(ctx context.Context, file []byte, header header) error {
	widths := catalog.PictureWidths
	decoded, err := decode(ctx, file, header)
	if err != nil {
		return err
	}
	upright := header.orientation.sizeOf(decoded.Bounds().Size())
	p.Width, p.Height = upright.X, upright.Y
	largest := sizeFor(upright, widths[len(widths)-1])
	scaled, err := scale(ctx, decoded, header.orientation.sizeOf(largest))
	if err != nil {
		return err
	}
	decoded = nil // it is large, and the encoder needs memory
	scaled = header.orientation.apply(scaled)
	p.Files = make([]File, len(widths))
	for n := len(widths) - 1; n >= 0; n-- {
		if size := sizeFor(upright, widths[n]); size == scaled.Bounds().Size() && n+1 < len(widths) {
			p.Files[n] = p.Files[n+1]
			p.Files[n].Width = widths[n]
			continue
		} else if scaled, err = scale(ctx, scaled, size); err != nil {
			return err
		}
		if p.Files[n], err = encode(ctx, scaled, widths[n]); err != nil {
			return err
		}
	}
	p.Colour = findDominantColor(scaled)
	return nil
}

// sizeFor returns the size of the scaled picture for one of [catalog.PictureWidths].
func sizeFor(original image.Point, width int) image.Point {
	w, h := catalog.Picture{Width: original.X, Height: original.Y}.Size(width)
	return image.Pt(w, h)
}

// encode returns the file of a scaled picture.
func encode(ctx context.Context, picture *image.RGBA, width int) (File, error) {
	if err := ctx.Err(); err != nil {
		return File{}, err
	}
	asWebP, err := codec.EncodeWebP(ctx, unmultiply(picture), webpQuality)
	if err != nil {
		return File{}, fmt.Errorf("encode a picture as WebP: %w", err)
	}
	var asJPEG bytes.Buffer
	if err := jpeg.Encode(&asJPEG, drawOnWhite(picture), &jpeg.Options{Quality: jpegQuality}); err != nil {
		return File{}, fmt.Errorf("encode a picture as JPEG: %w", err)
	}
	return File{Width: width, WebP: asWebP, JPEG: asJPEG.Bytes()}, nil
}
