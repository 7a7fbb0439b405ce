package letter

import (
	_ "embed"
	"html/template"
	"math"
	"regexp"
	"strconv"
	"strings"
)

//go:embed layout.html
var layoutHTML string

var htmlLayout = template.Must(template.New("letter").Parse(layoutHTML))

// html is the page as an HTML document that needs nothing but itself.
func (p *page) html() (string, error) {
	var b strings.Builder
	err := htmlLayout.Execute(&b, p)
	return b.String(), err
}

// accent is a business's colour and what is readable on it.
type accent struct{ Colour, On template.CSS }

var hexColour = regexp.MustCompile(`^#[0-9a-fA-F]{6}$`)

// accentOf gives a colour that is none the platform's own.
func accentOf(colour string) accent {
	if !hexColour.MatchString(colour) {
		colour = "#2450c8"
	}
	// Contrast with white is 1.05/(l+0.05), with black (l+0.05)/0.05 (WCAG 2): they are alike, 4.58, at 0.179.
	on := "#ffffff"
	if luminance(colour) > 0.179 {
		on = "#000000"
	}
	return accent{template.CSS(colour), template.CSS(on)}
}

// luminance is the relative luminance of #rrggbb as WCAG 2 defines it.
func luminance(colour string) float64 {
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, _ := strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8) // hexColour has matched
		c := float64(n) / 255
		if c <= 0.04045 {
			sum += weight * c / 12.92
		} else {
			sum += weight * math.Pow((c+0.055)/1.055, 2.4)
		}
	}
	return sum
}
