package media

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"os"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"golang.org/x/image/webp"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

func process(t *testing.T, file []byte) Picture {
	t.Helper()
	picture, err := NewProcessor().Process(t.Context(), bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	checkHarmless(t, "result", picture)
	return picture
}

func asPNG(t *testing.T, picture image.Image) []byte {
	t.Helper()
	var file bytes.Buffer
	if err := png.Encode(&file, picture); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// sizeOf returns the size of the WebP file for a width.
func sizeOf(t *testing.T, picture Picture, n int) image.Point {
	t.Helper()
	config, err := webp.DecodeConfig(bytes.NewReader(picture.Files[n].WebP))
	if err != nil {
		t.Fatal(err)
	}
	return image.Pt(config.Width, config.Height)
}

func TestProcessAcceptsEachFormat(t *testing.T) {
	for format, file := range samples(t) {
		picture := process(t, file)
		if picture.MIME != "image/"+string(format) || picture.ID != ID(file) || picture.Width < 61 || picture.Height < 43 {
			t.Errorf("%s: %s of %d × %d", format, picture.MIME, picture.Width, picture.Height)
		}
		if len(picture.Colour) != 7 || picture.Bytes() == 0 {
			t.Errorf("%s: colour %q, %d bytes", format, picture.Colour, picture.Bytes())
		}
	}
	file, err := os.ReadFile("codec/testdata/10bit.avif")
	if err != nil {
		t.Fatal(err)
	}
	process(t, file)
}

func TestProcessWritesWidths(t *testing.T) {
	for _, c := range []struct{ original, thumbnail, small, middle, large image.Point }{
		{image.Pt(2000, 1000), image.Pt(200, 100), image.Pt(400, 200), image.Pt(800, 400), image.Pt(1600, 800)},
		{image.Pt(500, 250), image.Pt(200, 100), image.Pt(400, 200), image.Pt(500, 250), image.Pt(500, 250)},
		{image.Pt(30, 20), image.Pt(30, 20), image.Pt(30, 20), image.Pt(30, 20), image.Pt(30, 20)},
		{image.Pt(500, 4000), image.Pt(50, 400), image.Pt(100, 800), image.Pt(200, 1600), image.Pt(400, 3200)},
		{image.Pt(4000, 1), image.Pt(200, 1), image.Pt(400, 1), image.Pt(800, 1), image.Pt(1600, 1)},
	} {
		picture := process(t, asPNG(t, image.NewGray(image.Rectangle{Max: c.original})))
		if picture.Width != c.original.X || picture.Height != c.original.Y {
			t.Errorf("%v: reported as %d × %d", c.original, picture.Width, picture.Height)
		}
		for n, want := range []image.Point{c.thumbnail, c.small, c.middle, c.large} {
			if got := sizeOf(t, picture, n); got != want {
				t.Errorf("%v: width %d has %v, want %v", c.original, catalog.PictureWidths[n], got, want)
			}
		}
	}
}

// quarters returns a picture whose four quarters differ. Each corner of an upright picture thus shows its orientation.
func quarters() *image.NRGBA {
	picture := image.NewNRGBA(image.Rect(0, 0, 60, 40))
	colours := []color.NRGBA{{230, 20, 20, 255}, {20, 200, 20, 255}, {20, 20, 230, 255}, {240, 240, 20, 255}}
	for y := range 40 {
		for x := range 60 {
			picture.SetNRGBA(x, y, colours[x/30+2*(y/20)])
		}
	}
	return picture
}

func TestProcessAppliesOrientation(t *testing.T) {
	// The colours of the corners of the upright picture, from the top left in reading order; 0 is the first quarter.
	corners := map[uint16][4]int{1: {0, 1, 2, 3}, 2: {1, 0, 3, 2}, 3: {3, 2, 1, 0}, 4: {2, 3, 0, 1},
		5: {0, 2, 1, 3}, 6: {2, 0, 3, 1}, 7: {3, 1, 2, 0}, 8: {1, 3, 0, 2}}
	var stored bytes.Buffer
	if err := jpeg.Encode(&stored, quarters(), &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	all := map[format][]byte{formatJPEG: stored.Bytes(), formatPNG: asPNG(t, quarters()),
		formatGIF: samples(t)[formatGIF], formatWebP: samples(t)[formatWebP]}
	for o, want := range corners {
		tagged := withMetadata(all, o)
		for _, f := range []format{formatJPEG, formatPNG} {
			picture := process(t, tagged[f])
			upright, err := jpeg.Decode(bytes.NewReader(picture.Files[0].JPEG))
			if err != nil {
				t.Fatal(err)
			}
			size := upright.Bounds().Size()
			if turned := o >= 5; turned != (size.Y > size.X) || picture.Width != size.X {
				t.Errorf("%s of orientation %d has %v", f, o, size)
			}
			for n, at := range []image.Point{{5, 5}, {size.X - 5, 5}, {5, size.Y - 5}, {size.X - 5, size.Y - 5}} {
				quarter := image.Pt(15+30*(want[n]%2), 10+20*(want[n]/2))
				if !near(upright.At(at.X, at.Y), quarters().At(quarter.X, quarter.Y), 25) {
					t.Errorf("%s of orientation %d: corner %d is %v", f, o, n, upright.At(at.X, at.Y))
				}
			}
		}
	}
}

func near(a, b color.Color, by int) bool {
	ar, ag, ab, _ := a.RGBA()
	br, bg, bb, _ := b.RGBA()
	for _, d := range []int{int(ar>>8) - int(br>>8), int(ag>>8) - int(bg>>8), int(ab>>8) - int(bb>>8)} {
		if d < -by || d > by {
			return false
		}
	}
	return true
}

func TestHEIFOrientation(t *testing.T) {
	for turns := range 4 {
		for mirror := range 3 {
			o := heifOrientation(turns, mirror)
			at := func(x, y int) image.Point { // of a picture of 2 × 1 pixels
				w, h := 2, 1
				for range turns { // counter-clockwise
					x, y, w, h = y, w-1-x, h, w
				}
				switch mirror {
				case 1:
					y = h - 1 - y
				case 2:
					x = w - 1 - x
				}
				return image.Pt(x, y)
			}
			stored := image.NewRGBA(image.Rect(0, 0, 2, 1))
			stored.SetRGBA(1, 0, color.RGBA{255, 0, 0, 255})
			upright := o.apply(stored)
			if p := at(1, 0); upright.RGBAAt(p.X, p.Y).R != 255 {
				t.Errorf("%d turns and mirror %d: orientation %d is wrong", turns, mirror, o)
			}
		}
	}
}

// A lossy WebP keeps its colours when it is uploaded, although Go's decoder returns them with the range of JPEG.
func TestProcessKeepsColours(t *testing.T) {
	first := process(t, asPNG(t, quarters()))
	second := process(t, first.Files[0].WebP)
	upright, err := jpeg.Decode(bytes.NewReader(second.Files[0].JPEG))
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []image.Point{{5, 5}, {55, 5}, {5, 35}, {55, 35}} {
		if !near(upright.At(at.X, at.Y), quarters().At(at.X, at.Y), 20) {
			t.Errorf("at %v: %v", at, upright.At(at.X, at.Y))
		}
	}
}

func TestProcessKeepsTransparency(t *testing.T) {
	logo := image.NewNRGBA(image.Rect(0, 0, 600, 300))
	for y := range 300 {
		for x := range 300 {
			logo.SetNRGBA(x, y, color.NRGBA{200, 30, 30, 255})
		}
	}
	picture := process(t, asPNG(t, logo))
	if picture.Colour != "#ffffff" {
		t.Errorf("the colour is %s", picture.Colour)
	}
	for range 2 { // the second time from a WebP file with alpha
		decoded, err := webp.Decode(bytes.NewReader(picture.Files[1].WebP))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, _, alpha := decoded.At(390, 100).RGBA(); alpha != 0 {
			t.Errorf("the WebP file has alpha %d", alpha)
		}
		flat, err := jpeg.Decode(bytes.NewReader(picture.Files[1].JPEG))
		if err != nil {
			t.Fatal(err)
		}
		if !near(flat.At(390, 100), color.White, 3) || !near(flat.At(10, 100), color.NRGBA{200, 30, 30, 255}, 12) {
			t.Errorf("the JPEG file has %v and %v", flat.At(390, 100), flat.At(10, 100))
		}
		picture = process(t, picture.Files[1].WebP)
	}
}

func TestScaleAverages(t *testing.T) {
	picture := painted(97, 53)
	scaled, err := scale(t.Context(), picture, image.Pt(13, 7))
	if err != nil {
		t.Fatal(err)
	}
	for y := range 7 {
		for x := range 13 {
			var sum, weights float64
			for fromY := range 53 {
				for fromX := range 97 {
					weight := overlap(fromX, x, 97, 13) * overlap(fromY, y, 53, 7)
					sum, weights = sum+weight*float64(picture.NRGBAAt(fromX, fromY).R), weights+weight
				}
			}
			if got := float64(scaled.RGBAAt(x, y).R); math.Abs(got-sum/weights) > 0.51 {
				t.Fatalf("at %d, %d: %v, want %v", x, y, got, sum/weights)
			}
		}
	}
}

// overlap returns which part of a pixel of `from` pixels lies in a pixel of `to` pixels of the same length.
func overlap(fromAt, toAt, from, to int) float64 {
	start := math.Max(float64(fromAt)/float64(from), float64(toAt)/float64(to))
	end := math.Min(float64(fromAt+1)/float64(from), float64(toAt+1)/float64(to))
	return math.Max(0, end-start)
}

func TestProcessOneAtATime(t *testing.T) {
	file := samples(t)[formatPNG]
	synctest.Test(t, func(t *testing.T) {
		processor := NewProcessor()
		if err := processor.place.Acquire(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		if _, err := processor.Process(t.Context(), bytes.NewReader(file)); !errors.Is(err, ErrBusy) {
			t.Errorf("a second file: %v", err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := processor.Process(ended, bytes.NewReader(file)); !errors.Is(err, context.Canceled) {
			t.Errorf("a request that has ended: %v", err)
		}
		processor.place.Release(1)
	})
}

func TestProcessStopsAtDeadline(t *testing.T) {
	processor := NewProcessor()
	processor.processFor = 0
	for format, file := range samples(t) {
		var refused RefusedError
		if _, err := processor.Process(t.Context(), bytes.NewReader(file)); !errors.As(err, &refused) {
			t.Errorf("%s: %v", format, err)
		}
	}
	broken := iotest.ErrReader(io.ErrUnexpectedEOF)
	if _, err := processor.Process(t.Context(), broken); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a request that breaks off: %v", err)
	}
}
