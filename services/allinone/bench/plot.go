package bench

import (
	"fmt"
	"html"
	"math"
	"strings"
	"time"
)

// Dimensions of the plot: two panels side by side, CPU time and latency.
const (
	plotWidth, plotHeight = 900, 400
	panelWidth            = 370
	panelTop, panelBottom = 70, 340
	firstPanel, gap       = 60, 60
)

// curve holds the values of one kind of request at each size of the database.
type curve struct {
	name  string
	sizes []Size
	cpu   []time.Duration // of the services, PostgreSQL and Redis together
	p50   []time.Duration
}

func curves(grown []Grown) []*curve {
	var all []*curve
	byName := map[string]*curve{}
	for _, g := range grown {
		c := byName[g.Name]
		if c == nil {
			c = &curve{name: g.Name}
			byName[g.Name], all = c, append(all, c)
		}
		c.sizes, c.cpu, c.p50 = append(c.sizes, g.Size), append(c.cpu, g.everything()), append(c.p50, g.P50)
	}
	return all
}

// style makes the plot readable on light and dark backgrounds.
const style = `<style>
	.ground { fill: #ffffff } text { font: 12px sans-serif; fill: #24292f } .faint { fill: #57606a } .grid { stroke: #d0d7de }
	.line { fill: none; stroke-width: 2 } .c0 { stroke: #0969da } .c1 { stroke: #bf3989 } .c2 { stroke: #1a7f37 }
	@media (prefers-color-scheme: dark) {
		.ground { fill: #0d1117 } text { fill: #e6edf3 } .faint { fill: #8b949e } .grid { stroke: #30363d }
		.c0 { stroke: #58a6ff } .c1 { stroke: #f778ba } .c2 { stroke: #3fb950 }
	}
</style>
`

// Plot returns an SVG with CPU time and latency by number of businesses. All scales are logarithmic.
func Plot(grown []Grown) string {
	all := curves(grown)
	var b strings.Builder
	fmt.Fprintf(&b,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="Cost of a request against size">`+"\n",
		plotWidth, plotHeight)
	b.WriteString(style)
	fmt.Fprintf(&b, `<rect class="ground" width="%d" height="%d"/>`+"\n", plotWidth, plotHeight)
	for i, c := range all {
		x := firstPanel + 160*i
		fmt.Fprintf(&b, `<line class="line c%d" x1="%d" x2="%d" y1="20" y2="20"/><text x="%d" y="24">%s</text>`+"\n",
			i%3, x, x+24, x+30, html.EscapeString(c.name))
	}
	panels := []struct {
		title  string
		values func(*curve) []time.Duration
	}{
		{"CPU a request: services, PostgreSQL and Redis", func(c *curve) []time.Duration { return c.cpu }},
		{"Latency at half the ceiling: p50", func(c *curve) []time.Duration { return c.p50 }},
	}
	for i, p := range panels {
		panel{&b, float64(firstPanel + i*(panelWidth+gap)), scaleOf(grown)}.draw(p.title, all, p.values)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// scale is the range of the x axis, which shows numbers of businesses. The y axis shows microseconds at powers of ten.
type scale struct{ least, most float64 }

const lowest, highest = 1, 5 // 10 µs to 100 ms

func scaleOf(grown []Grown) scale {
	s := scale{math.Inf(1), 0}
	for _, g := range grown {
		s.least, s.most = min(s.least, float64(g.Businesses)), max(s.most, float64(g.Businesses))
	}
	return s
}

// panel draws one of the two panels of the plot. left is its x position.
type panel struct {
	to   *strings.Builder
	left float64
	scale
}

func (p panel) x(businesses int) float64 {
	const margin = 40
	if p.most <= p.least {
		return p.left + panelWidth/2
	}
	share := math.Log(float64(businesses)/p.least) / math.Log(p.most/p.least)
	return p.left + margin + (panelWidth-2*margin)*share
}

func (p panel) y(d time.Duration) float64 {
	share := (math.Log10(max(1, float64(d)/float64(time.Microsecond))) - lowest) / (highest - lowest)
	return panelBottom - (panelBottom-panelTop)*min(1, max(0, share))
}

func (p panel) draw(title string, all []*curve, values func(*curve) []time.Duration) {
	fmt.Fprintf(p.to, `<text x="%.1f" y="%d">%s</text>`+"\n", p.left, panelTop-16, title)
	for i, name := range []string{"10 µs", "100 µs", "1 ms", "10 ms", "100 ms"} {
		y := p.y(time.Duration(math.Pow10(lowest+i)) * time.Microsecond)
		fmt.Fprintf(p.to,
			`<line class="grid" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/><text class="faint" x="%.1f" y="%.1f" text-anchor="end">%s</text>`+"\n",
			p.left, p.left+panelWidth, y, y, p.left-6, y+4, name)
	}
	for i, c := range all {
		var points []string
		for j, v := range values(c) {
			x, y := p.x(c.sizes[j].Businesses), p.y(v)
			points = append(points, fmt.Sprintf("%.1f,%.1f", x, y))
			fmt.Fprintf(p.to, `<text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`+"\n", x, y-7, short(v))
			if i == 0 {
				fmt.Fprintf(p.to,
					`<text class="faint" x="%.1f" y="%d" text-anchor="middle">%s businesses</text><text class="faint" x="%.1f" y="%d" text-anchor="middle">%s bookings</text>`+"\n",
					x, panelBottom+22, thousands(c.sizes[j].Businesses), x, panelBottom+38,
					thousands(c.sizes[j].Bookings))
			}
		}
		fmt.Fprintf(p.to, `<polyline class="line c%d" points="%s"/>`+"\n", i%3, strings.Join(points, " "))
	}
}

// short formats a duration with at most three digits.
func short(d time.Duration) string {
	if d >= time.Millisecond {
		return fmt.Sprintf("%.3g ms", float64(d)/float64(time.Millisecond))
	}
	return fmt.Sprintf("%.0f µs", float64(d)/float64(time.Microsecond))
}

// thousands formats 10000 as 10,000.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
