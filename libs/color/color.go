// Package color reads colours of sRGB and says how well one is read on another (WCAG 2.2, contrast ratio). It is pure.
package color

import (
	"fmt"
	"math"
	"strconv"
)

// Color is an opaque colour of sRGB.
type Color struct{ R, G, B uint8 }

// The two ends of lightness.
var (
	Black = Color{}
	White = Color{255, 255, 255}
)

// MinContrast is the contrast that text of any size needs on what is behind it (WCAG 2.2, 1.4.3).
const MinContrast = 4.5

// Parse reads "#" and six hexadecimal digits.
func Parse(s string) (Color, error) {
	n, err := strconv.ParseUint(s[min(len(s), 1):], 16, 24)
	if err != nil || len(s) != 7 || s[0] != '#' {
		return Color{}, fmt.Errorf("%.20q is no colour: # and six hexadecimal digits", s)
	}
	return Color{uint8(n >> 16), uint8(n >> 8), uint8(n)}, nil
}

// String is the colour as [Parse] reads it, in lower case.
func (c Color) String() string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// Contrast is the contrast ratio of two colours, from 1 (none) to 21 (black and white), in either order.
func Contrast(a, b Color) float64 {
	la, lb := a.luminance(), b.luminance()
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// luminance is WCAG's relative luminance, from 0 to 1.
func (c Color) luminance() float64 {
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}

func linear(channel uint8) float64 {
	v := float64(channel) / 255
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}

// Readable is c itself where its contrast with behind is at least [MinContrast], else the colour nearest to it on the way to black
// or white, whichever is further from behind, that has it.
func Readable(c, behind Color) Color {
	end := White
	if Contrast(Black, behind) > Contrast(White, behind) {
		end = Black
	}
	const steps = 255
	for step := range steps {
		mixed := Color{toward(c.R, end.R, step, steps), toward(c.G, end.G, step, steps), toward(c.B, end.B, step, steps)}
		if Contrast(mixed, behind) >= MinContrast {
			return mixed
		}
	}
	return end
}

// toward is the channel so many steps of all on its way to another.
func toward(from, to uint8, step, steps int) uint8 {
	return uint8((int(from)*(steps-step) + int(to)*step) / steps) // between the two
}
