package bench

import (
	"fmt"
	"math"
	"strings"
)

// Of the plot, in its own units.
const (
	plotWidth, plotHeight = 760, 420
	plotLeft, plotBottom  = 70, 60
	plotTop               = 30
	plotRight             = 210
)

// line is one curve of the plot: a value in microseconds at each size.
type line struct {
	name   string
	values []float64
}

// Plot draws latency and CPU against size as SVG: sizes from left to right, microseconds upwards on a logarithmic scale.
func Plot(grown []Grown) string {
	var sizes []string
	lines := map[string]*line{}
	var order []string
	for _, g := range grown {
		label := fmt.Sprintf("%d / %d", g.Businesses, g.Bookings)
		if len(sizes) == 0 || sizes[len(sizes)-1] != label {
			sizes = append(sizes, label)
		}
		for name, value := range map[string]float64{"p50": float64(g.P50.Nanoseconds()), "p99": float64(g.P99.Nanoseconds()), "CPU": float64(g.server().Nanoseconds())} {
			name = g.Name + ", " + name
			if lines[name] == nil {
				lines[name] = &line{name: name}
			}
			lines[name].values = append(lines[name].values, max(1, value/1000))
		}
	}
	for _, g := range grown[:min(len(grown), len(lines)/3)] {
		order = append(order, g.Name+", p50", g.Name+", p99", g.Name+", CPU")
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11">`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/><text x="%d" y="16">Microseconds a request, by businesses / bookings</text>`+"\n", plotWidth, plotHeight, plotLeft)
	drawGrid(&b, sizes)
	for i, name := range order {
		drawLine(&b, lines[name], i, len(sizes))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// The scale goes from 10 µs to 1 s.
const (
	lowest  = 1
	highest = 6
)

func plotX(i, n int) float64 {
	return plotLeft + float64(plotWidth-plotLeft-plotRight)*(float64(i)+0.5)/float64(n)
}

func plotY(microseconds float64) float64 {
	share := (math.Log10(microseconds) - lowest) / (highest - lowest)
	return plotHeight - plotBottom - float64(plotHeight-plotTop-plotBottom)*min(1, max(0, share))
}

func drawGrid(b *strings.Builder, sizes []string) {
	for power := lowest; power <= highest; power++ {
		y := plotY(math.Pow10(power))
		fmt.Fprintf(b, `<line x1="%d" x2="%d" y1="%.1f" y2="%.1f" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">%.0f</text>`+"\n",
			plotLeft, plotWidth-plotRight, y, y, plotLeft-6, y+4, math.Pow10(power))
	}
	for i, size := range sizes {
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", plotX(i, len(sizes)), plotHeight-plotBottom+18, size)
	}
}

// drawLine gives each path a colour and each measure of it a stroke.
func drawLine(b *strings.Builder, l *line, i, sizes int) {
	colours, strokes := []string{"#1f6feb", "#d1242f", "#1a7f37"}, []string{"none", "6 3", "2 3"}
	colour := colours[i/3%len(colours)]
	var points []string
	for j, v := range l.values {
		points = append(points, fmt.Sprintf("%.1f,%.1f", plotX(j, sizes), plotY(v)))
	}
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2" stroke-dasharray="%s"/>`+"\n", strings.Join(points, " "), colour, strokes[i%3])
	y := plotTop + 10 + 18*i
	fmt.Fprintf(b, `<line x1="%d" x2="%d" y1="%d" y2="%d" stroke="%s" stroke-width="2" stroke-dasharray="%s"/><text x="%d" y="%d">%s</text>`+"\n",
		plotWidth-plotRight+15, plotWidth-plotRight+45, y, y, colour, strokes[i%3], plotWidth-plotRight+52, y+4, l.name)
}
