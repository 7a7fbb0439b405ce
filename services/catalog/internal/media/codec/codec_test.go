package codec

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"os"
	"testing"

	"golang.org/x/image/webp"
)

func gradient(width, height int) *image.NRGBA {
	picture := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			picture.SetNRGBA(x, y, color.NRGBA{uint8(255 * x / width), uint8(255 * y / height), 100, 255})
		}
	}
	return picture
}

func TestEncodeWebPRoundTrip(t *testing.T) {
	original := gradient(301, 77)
	encoded, err := EncodeWebP(t.Context(), original, 80)
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := webp.Decode(bytes.NewReader(encoded))
	if err != nil {
		t.Fatal(err)
	}
	if decoded.Bounds() != original.Bounds() {
		t.Fatalf("the picture has %v, want %v", decoded.Bounds(), original.Bounds())
	}
	for _, at := range []image.Point{{10, 10}, {290, 70}, {150, 40}} {
		// The decoder returns the luminance of video (16 to 235) as that of JPEG (0 to 255).
		want, _, _ := color.RGBToYCbCr(original.NRGBAAt(at.X, at.Y).R, original.NRGBAAt(at.X, at.Y).G, 100)
		got := decoded.(*image.YCbCr).YCbCrAt(at.X, at.Y).Y
		if d := 16 + int(want)*219/255 - int(got); d < -6 || d > 6 {
			t.Errorf("at %v: luminance %d, want that of %d", at, got, want)
		}
	}
}

func TestDecodeAVIF(t *testing.T) {
	for _, name := range []string{"testdata/8bit.avif", "testdata/10bit.avif"} {
		file, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		picture, err := DecodeAVIF(t.Context(), file, 1<<20)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if picture.Bounds().Dx() < 100 || uniform(picture) {
			t.Errorf("%s: %v has one colour", name, picture.Bounds())
		}
		if _, err := DecodeAVIF(t.Context(), file, 1000); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s with at most 1000 pixels: %v", name, err)
		}
		for _, length := range []int{0, 1, 20, 100, 300, len(file) / 2, len(file) - 1} {
			if picture, err := DecodeAVIF(t.Context(), file[:length], 1<<20); err == nil && uniform(picture) {
				t.Errorf("%s of %d bytes decodes to an empty picture", name, length)
			}
		}
	}
}

func uniform(picture image.Image) bool {
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			if picture.At(x, y) != picture.At(0, 0) {
				return false
			}
		}
	}
	return true
}

func TestContextEndsCall(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := EncodeWebP(ended, gradient(1600, 1600), 80); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	m := &memory{}
	defer m.Free()
	if got := m.Reallocate(MaxMemory + 1); got != nil {
		t.Error("an instance gets more than MaxMemory")
	}
	if got := m.Reallocate(MaxMemory); len(got) != MaxMemory {
		t.Errorf("an instance gets %d bytes", len(got))
	}
	if _, err := EncodeWebP(t.Context(), gradient(9000, 9000), 80); !errors.Is(err, ErrInvalid) {
		t.Errorf("a picture that needs more memory: %v", err)
	}
}

func BenchmarkEncodeWebP(b *testing.B) {
	picture := gradient(1600, 1200)
	for b.Loop() {
		if _, err := EncodeWebP(b.Context(), picture, 80); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		for _, m := range [][]byte{webpModule, avifModule} {
			if _, err := compile(m); err != nil {
				b.Fatal(err)
			}
		}
	}
}
