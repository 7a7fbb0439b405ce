package media

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/webp"

	"github.com/slotmesh/slotmesh/services/catalog/internal/media/codec"
)

// decode returns the picture of a file whose header is within the limits.
func decode(ctx context.Context, file []byte, header header) (image.Image, error) {
	picture, err := header.format.decode(ctx, file)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, codec.ErrTooLarge):
		return nil, errTooManyPixels
	case err != nil:
		return nil, header.format.newDamagedError()
	case picture.Bounds().Empty():
		return nil, header.format.newDamagedError()
	}
	return picture, nil
}

func (f format) decode(ctx context.Context, file []byte) (image.Image, error) {
	limited := &reader{ctx, bytes.NewReader(file)}
	switch f {
	case formatJPEG:
		return jpeg.Decode(limited)
	case formatPNG:
		return png.Decode(limited)
	case formatGIF:
		return gif.Decode(limited)
	case formatWebP:
		picture, err := webp.Decode(limited)
		return convertStudio(picture), err
	case formatAVIF:
		return codec.DecodeAVIF(ctx, file, maxDecoding/avifCost)
	}
	return nil, image.ErrFormat
}

// reader reads until ctx ends. Its error then stops the decoder.
// It has no other methods, so that decoders read in small steps.
type reader struct {
	ctx  context.Context
	from io.Reader
}

// Read reads at most 4 KiB.
func (r *reader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.from.Read(b[:min(len(b), 4<<10)])
}

// studioPicture is a picture of a lossy WebP file. The luminance of such a picture has the range 16 to 235
// (BT.601). The WebP decoder, however, returns a type of package image whose luminance has the range 0 to 255.
type studioPicture struct {
	*image.YCbCr
	alpha  []byte // nil if the picture is opaque
	stride int
}

// convertStudio returns a picture of the WebP decoder as a [studioPicture].
// If the picture has no luminance, studio returns it unchanged.
func convertStudio(picture image.Image) image.Image {
	switch p := picture.(type) {
	case *image.YCbCr:
		return studioPicture{YCbCr: p}
	case *image.NYCbCrA:
		return studioPicture{YCbCr: &p.YCbCr, alpha: p.A, stride: p.AStride}
	}
	return picture
}

// row writes the premultiplied pixels of one row to out.
func (s studioPicture) row(y int, out []byte) {
	bounds := s.Bounds()
	for x := range bounds.Dx() {
		at := s.COffset(bounds.Min.X+x, y)
		luma := 298 * (int32(s.Y[s.YOffset(bounds.Min.X+x, y)]) - 16)
		cb, cr := int32(s.Cb[at])-128, int32(s.Cr[at])-128
		alpha := int32(255)
		if s.alpha != nil {
			alpha = int32(s.alpha[(y-bounds.Min.Y)*s.stride+x])
		}
		for c, v := range [3]int32{luma + 409*cr, luma - 100*cb - 208*cr, luma + 516*cb} {
			out[4*x+c] = byte(min(max(v+128, 0)>>8, 255) * alpha / 255)
		}
		out[4*x+3] = byte(alpha)
	}
}
