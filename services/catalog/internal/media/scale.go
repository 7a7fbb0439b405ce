package media

import (
	"context"
	"fmt"
	"image"
	"image/draw"
)

// scale returns a picture scaled to the argument `size`, which must not be larger than the
// picture. Each pixel of the result is the average of the area that it covers. Besides its
// result, scale needs memory for a few rows only, however large the picture is.
func scale(ctx context.Context, picture image.Image, size image.Point) (*image.RGBA, error) {
	from := picture.Bounds()
	if already, ok := picture.(*image.RGBA); ok && from.Size() == size && from.Min == (image.Point{}) {
		return already, nil
	}
	scaled := image.NewRGBA(image.Rectangle{Max: size})
	rows := image.NewRGBA(image.Rect(0, 0, from.Dx(), 1))
	narrow, sums := make([]uint64, 4*size.X), make([]uint64, 4*size.X)
	area := uint64(from.Dx()) * uint64(from.Dy())
	row := 0
	for y := range from.Dy() {
		if y%64 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		readRow(picture, from.Min.Y+y, rows)
		averageRow(rows.Pix, narrow, from.Dx(), size.X)
		// The height of one row of the picture is divided into size.Y units. The row
		// y covers the units [start, end). One scaled row covers from.Dy() units.
		for start, end := y*size.Y, (y+1)*size.Y; start < end; {
			until := min(end, (row+1)*from.Dy())
			for n := range sums {
				sums[n] += narrow[n] * uint64(until-start)
			}
			if start = until; until == (row+1)*from.Dy() {
				out := scaled.Pix[row*scaled.Stride:]
				for n := range sums {
					out[n] = byte((sums[n] + area/2) / area)
					sums[n] = 0
				}
				row++
			}
		}
	}
	return scaled, nil
}

// readRow reads one row of a picture into `row`, premultiplied.
func readRow(picture image.Image, y int, row *image.RGBA) {
	if p, ok := picture.(studioPicture); ok {
		p.row(y, row.Pix)
		return
	}
	draw.Draw(row, row.Bounds(), picture, image.Pt(picture.Bounds().Min.X, y), draw.Src)
}

// averageRow adds up the pixels of a row of `from` pixels to sums for a row of `to` pixels. Each sum is `from` times
// the average.
func averageRow(pixels []byte, sums []uint64, from, to int) {
	clear(sums)
	column := 0
	for x := range from {
		pixel := pixels[4*x : 4*x+4]
		for start, end := x*to, (x+1)*to; start < end; {
			until := min(end, (column+1)*from)
			weight := uint64(until - start)
			sum := sums[4*column : 4*column+4]
			for c := range sum {
				sum[c] += uint64(pixel[c]) * weight
			}
			if start = until; until == (column+1)*from {
				column++
			}
		}
	}
}

// unmultiply returns a copy of a picture whose colours are not multiplied by alpha.
func unmultiply(picture *image.RGBA) *image.NRGBA {
	copied := image.NewNRGBA(picture.Bounds())
	copy(copied.Pix, picture.Pix)
	for n := 0; n < len(copied.Pix); n += 4 {
		alpha := int(copied.Pix[n+3])
		if alpha == 255 || alpha == 0 {
			continue
		}
		for c := n; c < n+3; c++ {
			copied.Pix[c] = byte(min(255, (int(copied.Pix[c])*255+alpha/2)/alpha))
		}
	}
	return copied
}

// drawOnWhite returns a copy of a picture on a white background.
func drawOnWhite(picture *image.RGBA) *image.RGBA {
	copied := image.NewRGBA(picture.Bounds())
	for n := 0; n < len(copied.Pix); n += 4 {
		rest := 255 - picture.Pix[n+3]
		for c := n; c < n+3; c++ {
			copied.Pix[c] = byte(min(255, int(picture.Pix[c])+int(rest)))
		}
		copied.Pix[n+3] = 255
	}
	return copied
}

// findDominantColor returns the most frequent colour of a picture, such as #aabbcc. It groups
// colours by four bits of each channel. A picture with a transparent pixel has the colour white, because its subject
// would not be visible on its own colour.
func findDominantColor(picture *image.RGBA) string {
	type group struct{ count, red, green, blue int }
	groups := make([]group, 1<<12)
	best := &group{1, 255, 255, 255}
	for n := 0; n < len(picture.Pix); n += 4 {
		r, g, b := int(picture.Pix[n]), int(picture.Pix[n+1]), int(picture.Pix[n+2])
		if picture.Pix[n+3] < 128 {
			return "#ffffff"
		}
		to := &groups[r>>4<<8|g>>4<<4|b>>4]
		to.count, to.red, to.green, to.blue = to.count+1, to.red+r, to.green+g, to.blue+b
		if to.count >= best.count {
			best = to
		}
	}
	return fmt.Sprintf("#%02x%02x%02x", best.red/best.count, best.green/best.count, best.blue/best.count)
}
