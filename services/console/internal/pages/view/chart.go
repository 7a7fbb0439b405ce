package view

import (
	"math"
	"strconv"
	"unicode/utf8"
)

// Sizes in a chart, in units of its SVG drawing. The screen of a phone is [chartWidth] units wide. On such a screen,
// the letters in a chart are as large as the letters of the text beside the chart.
const (
	chartWidth  = 360.0
	chartHeight = 200.0
	chartTop    = 10.0
	chartBottom = 24.0 // height of the space for the labels below the bars
	letter      = 6.2  // average width of one letter of a label
	rowHeight   = 40.0
	mostRows    = 12 // maximum number of rows of a [ranked] chart
	mostLetters = 34 // maximum number of letters of a row's name
)

// stacked is a chart of vertical bars. Each bar consists of pieces, one above the other. A bar has one piece for each
// part of the chart, such as for each source of bookings.
type stacked struct {
	ID, Title, Text string
	Parts           []part
	Scale           []tick
	Bars            []bar
	Labels          []label
	Left, Right     float64 // x coordinates of both ends of the scale's lines
	Base            float64 // y coordinate of the bottom of the bars
}

// part is a part that all bars of a chart have, such as one source of bookings. It has the value of the part in each
// bar. `Class` is the CSS class for the colour of the part.
type part struct {
	Name, Class string
	Values      []float64
}

// tick is a horizontal line of a chart's scale, with the number beside the line.
type tick struct {
	X, Y  float64
	Label string
}

// bar is one vertical bar of a chart. `Text` contains the values of the bar; the page shows `Text` when the reader
// points at the bar.
type bar struct {
	X, Width float64
	Text     string
	Pieces   []piece
}

type piece struct {
	Class     string
	Y, Height float64
}

// label is the text below the middle of a bar.
type label struct {
	X    float64
	Text string
}

// drawing converts horizontal positions for the reading direction of the language. If `turned` is true, the language is
// read from right to left, and a chart begins at the right.
type drawing struct{ turned bool }

func (p *Page) drawing() drawing { return drawing{p.Words.Direction() == "rtl"} }

// at returns the x coordinate of the left edge of an element. The argument `x` is the distance of the element from the
// edge at which reading begins.
func (d drawing) at(x, width float64) float64 {
	if d.turned {
		return chartWidth - x - width
	}
	return x
}

// stack computes the positions of the bars of a chart. The argument `names` has the labels of the bars; if there is not
// enough space, some labels are omitted. The function `number` formats a value.
func (p *Page) stack(c stacked, names []string, number func(float64) string) *stacked {
	d := p.drawing()
	top := 0.0
	for i := range names {
		top = max(top, sum(c.Parts, i))
	}
	apart := step(top)
	lines := max(1, math.Ceil(top/apart-1e-9))
	widest := 0
	for n := range int(lines) + 1 {
		widest = max(widest, utf8.RuneCountInString(number(float64(n)*apart)))
	}
	left := float64(widest)*letter + 8
	c.Base = chartHeight - chartBottom
	tall := (c.Base - chartTop) / (lines * apart)
	c.Left, c.Right = d.at(left, 0), d.at(chartWidth, 0)
	for n := range int(lines) + 1 {
		value := float64(n) * apart
		c.Scale = append(c.Scale, tick{d.at(left-6, 0), c.Base - value*tall, number(value)})
	}
	room := (chartWidth - left) / float64(max(1, len(names)))
	width := min(room*0.72, 40)
	for i, name := range names {
		b := bar{X: d.at(left+float64(i)*room, room), Width: room, Text: name}
		y := c.Base
		for _, part := range c.Parts {
			high := part.Values[i] * tall
			y -= high
			if high > 0 {
				b.Pieces = append(b.Pieces, piece{part.Class, y, high})
			}
			b.Text += "\n" + part.Name + ": " + number(part.Values[i])
		}
		c.Bars = append(c.Bars, b)
	}
	c.Labels = labels(c.Bars, names, left)
	for i := range c.Bars {
		c.Bars[i].X += (room - width) / 2
		c.Bars[i].Width = width
	}
	return &c
}

// labels returns the labels below the bars. If there is no space for all labels, it returns the first one and some
// others at equal distances. No label extends beyond the chart.
func labels(bars []bar, names []string, left float64) []label {
	widest := 1
	for _, name := range names {
		widest = max(widest, utf8.RuneCountInString(name))
	}
	half := float64(widest) * letter / 2
	fit := max(1, int((chartWidth-left)/(2*half+24)))
	every := (len(names) + fit - 1) / fit
	var all []label
	for i := 0; i < len(names); i += every {
		x := bars[i].X + bars[i].Width/2
		all = append(all, label{min(max(x, half), chartWidth-half), names[i]})
	}
	return all
}

func sum(parts []part, i int) float64 {
	all := 0.0
	for _, p := range parts {
		all += p.Values[i]
	}
	return all
}

// step returns the distance between the lines of a scale from 0 to `top`. The distance is 1, 2 or 5 times a power of
// ten. With this distance, there are at most four lines.
func step(top float64) float64 {
	const lines = 4
	unit := 1.0
	for {
		for _, n := range []float64{1, 2, 5} {
			if top <= lines*n*unit {
				return n * unit
			}
		}
		unit *= 10
	}
}

// ranked is a chart of horizontal bars. The name and the value of each bar are above the bar.
type ranked struct {
	ID, Title, Text string
	Height          float64
	Rows            []rank
}

type rank struct {
	Name, Value       string
	NameAt, ValueAt   float64
	X, Y, Long, Whole float64
}

// measured is one row of a [ranked] chart with its value.
type measured struct {
	Name, Text string
	Value      float64
}

// rank computes the rows of a chart of horizontal bars. A bar of the full width stands for the value `whole`. If a row
// has a larger value, the full width stands for the largest value. If there are more than mostRows rows, the chart has
// only the first mostRows rows; the table below the chart has all rows.
func (p *Page) rank(c ranked, rows []measured, whole float64) *ranked {
	d := p.drawing()
	rows = rows[:min(len(rows), mostRows)]
	for _, r := range rows {
		whole = max(whole, r.Value)
	}
	c.Height = rowHeight * float64(len(rows))
	for i, r := range rows {
		long := 0.0
		if whole > 0 {
			long = chartWidth * r.Value / whole
		}
		c.Rows = append(c.Rows, rank{
			Name: shortened(r.Name), Value: r.Text, NameAt: d.at(0, 0), ValueAt: d.at(chartWidth, 0),
			X: d.at(0, long), Y: rowHeight * float64(i), Long: long, Whole: chartWidth,
		})
	}
	return &c
}

func shortened(name string) string {
	if letters := []rune(name); len(letters) > mostLetters {
		return string(letters[:mostLetters-1]) + "…"
	}
	return name
}

// box returns the attribute viewBox of the chart's SVG element.
func (c *ranked) box() string { return "0 0 " + num(chartWidth) + " " + num(c.Height) }

// num formats a coordinate of an SVG drawing.
func num(x float64) string { return strconv.FormatFloat(math.Round(x*100)/100, 'f', -1, 64) }
