// Package color parses sRGB colours and computes their contrast (WCAG 2.2, contrast ratio).
// The package does no I/O.
package color

import (
	"fmt"
	"math"
	"strconv"
)

// Color is an opaque sRGB colour.
type Color struct{ R, G, B uint8 }

// Black and White are the darkest and the lightest colour.
var (
	Black = Color{}
	White = Color{255, 255, 255}
)

// MinContrast is the minimal contrast between text of any size and its background (WCAG 2.2, 1.4.3).
const MinContrast = 4.5

// Parse parses a colour of the form "#" followed by six hexadecimal digits.
func Parse(s string) (Color, error) {
	n, err := strconv.ParseUint(s[min(len(s), 1):], 16, 24)
	if err != nil || len(s) != 7 || s[0] != '#' {
		return Color{}, fmt.Errorf("%.20q is no colour: # and six hexadecimal digits", s)
	}
	return Color{uint8(n >> 16), uint8(n >> 8), uint8(n)}, nil
}

// String returns the colour in the form that [Parse] accepts, in lower case.
func (c Color) String() string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

// Contrast returns the contrast ratio of two colours, which does not depend
// on their order. It is between 1 (equal colours) and 21 (black and white).
func Contrast(a, b Color) float64 {
	la, lb := a.luminance(), b.luminance()
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

// luminance returns the relative luminance of the colour as WCAG defines it, from 0 to 1.
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

// Readable returns a colour close to `c` that is readable on the background `behind`: the contrast of the two colours
// is at least [MinContrast]. If `c` is readable, the result is `c`. If not, Readable mixes `c` with as little black or
// white as possible. It uses black or white, whichever has more contrast with the background.
func Readable(c, behind Color) Color {
	end := White
	if Contrast(Black, behind) > Contrast(White, behind) {
		end = Black
	}
	const steps = 255
	for step := range steps {
		mixed := Color{mix(c.R, end.R, step, steps), mix(c.G, end.G, step, steps),
			mix(c.B, end.B, step, steps)}
		if Contrast(mixed, behind) >= MinContrast {
			return mixed
		}
	}
	return end
}

// mix returns a value of a colour channel between `from` and `to`. It divides the distance between these values into
// `steps` equal steps, and returns the value after `step` of them.
func mix(from, to uint8, step, steps int) uint8 {
	return uint8((int(from)*(steps-step) + int(to)*step) / steps) // the result is between the two values
}
