package color_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/values/color"
)

func TestParseIsStrict(t *testing.T) {
	t.Parallel()
	if c, err := color.Parse("#0B6e4f"); err != nil || c != (color.Color{R: 0x0b, G: 0x6e, B: 0x4f}) ||
		c.String() != "#0b6e4f" {
		t.Errorf("got %v, %v", c, err)
	}
	for _, s := range []string{"", "#", "#fff", "0b6e4f", "#0b6e4g", "#+b6e4f", "#0b6e4f0", "red", "##b6e4f", "#0b_e4f",
		"é0b6e4"} {
		if c, err := color.Parse(s); err == nil {
			t.Errorf("%q is read as %v", s, c)
		}
	}
}

// The ratios are from WebAIM's contrast checker.
func TestContrastFollowsWCAG(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want float64
	}{{"#000000", "#ffffff", 21}, {"#777777", "#ffffff", 4.48}, {"#767676", "#ffffff", 4.54},
		{"#ff0000", "#ffffff", 4.00}, {"#0000ff", "#ffffff", 8.59}} {
		a, _ := color.Parse(c.a)
		b, _ := color.Parse(c.b)
		if got := color.Contrast(a, b); math.Abs(got-c.want) > 0.005 || color.Contrast(b, a) != got {
			t.Errorf("%s on %s: %.3f, want %.2f", c.a, c.b, got, c.want)
		}
	}
}

func TestReadableReachesMinContrast(t *testing.T) {
	t.Parallel()
	any3 := rapid.Custom(func(t *rapid.T) color.Color {
		return color.Color{R: rapid.Byte().Draw(t, "r"), G: rapid.Byte().Draw(t, "g"), B: rapid.Byte().Draw(t, "b")}
	})
	rapid.Check(t, func(t *rapid.T) {
		c, behind := any3.Draw(t, "color"), any3.Draw(t, "behind")
		got := color.Readable(c, behind)
		if color.Contrast(got, behind) < color.MinContrast {
			t.Fatalf("%s on %s becomes %s, which has %.2f", c, behind, got, color.Contrast(got, behind))
		}
		if color.Contrast(c, behind) >= color.MinContrast && got != c {
			t.Fatalf("%s is readable on %s and became %s", c, behind, got)
		}
	})
}
