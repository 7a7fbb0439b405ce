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
	letterWidth = 6.2  // average width of one letter of a label
	rowHeight   = 40.0
	maxRows     = 12 // maximum number of rows of a [rankedChart]
	maxLetters  = 34 // maximum number of letters of a row's name
)

// stackedChart is a chart of vertical bars. Each bar consists of pieces, one above the other. A bar has one piece for
// each part of the chart, such as for each source of bookings.
type stackedChart struct {
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

// drawing converts horizontal positions for the reading direction of the language. If `isRightToLeft` is true, the
// language is read from right to left, and a chart begins at the right.
type drawing struct{ isRightToLeft bool }

func (p *Page) drawing() drawing { return drawing{p.Words.Direction() == "rtl"} }

// leftEdge returns the x coordinate of the left edge of an element. The argument `x` is the distance of the element
// from the edge at which reading begins.
func (d drawing) leftEdge(x, width float64) float64 {
	if d.isRightToLeft {
		return chartWidth - x - width
	}
	return x
}

// stack computes the positions of the bars of a chart. The argument `names` has the labels of the bars; if there is not
// enough space, some labels are omitted. The function `number` formats a value.
func (p *Page) stack(c stackedChart, names []string, number func(float64) string) *stackedChart {
	d := p.drawing()
	top := 0.0
	for i := range names {
		top = max(top, sumParts(c.Parts, i))
	}
	apart := computeStep(top)
	lines := max(1, math.Ceil(top/apart-1e-9))
	widest := 0
	for n := range int(lines) + 1 {
		widest = max(widest, utf8.RuneCountInString(number(float64(n)*apart)))
	}
	remaining := float64(widest)*letterWidth + 8
	c.Base = chartHeight - chartBottom
	tall := (c.Base - chartTop) / (lines * apart)
	c.Left, c.Right = d.leftEdge(remaining, 0), d.leftEdge(chartWidth, 0)
	for n := range int(lines) + 1 {
		value := float64(n) * apart
		c.Scale = append(c.Scale, tick{d.leftEdge(remaining-6, 0), c.Base - value*tall, number(value)})
	}
	room := (chartWidth - remaining) / float64(max(1, len(names)))
	width := min(room*0.72, 40)
	for i, name := range names {
		b := bar{X: d.leftEdge(remaining+float64(i)*room, room), Width: room, Text: name}
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
	c.Labels = placeLabels(c.Bars, names, remaining)
	for i := range c.Bars {
		c.Bars[i].X += (room - width) / 2
		c.Bars[i].Width = width
	}
	return &c
}

// placeLabels returns the labels below the bars. If there is no space for all labels, it returns the first one and some
// others at equal distances. No label extends beyond the chart.
func placeLabels(bars []bar, names []string, remaining float64) []label {
	widest := 1
	for _, name := range names {
		widest = max(widest, utf8.RuneCountInString(name))
	}
	half := float64(widest) * letterWidth / 2
	fit := max(1, int((chartWidth-remaining)/(2*half+24)))
	every := (len(names) + fit - 1) / fit
	var all []label
	for i := 0; i < len(names); i += every {
		x := bars[i].X + bars[i].Width/2
		all = append(all, label{min(max(x, half), chartWidth-half), names[i]})
	}
	return all
}

func sumParts(parts []part, i int) float64 {
	all := 0.0
	for _, p := range parts {
		all += p.Values[i]
	}
	return all
}

// computeStep returns the distance between the lines of a scale from 0 to `top`. The distance is 1, 2 or 5 times a
// power of ten. With this distance, there are at most four lines.
func computeStep(top float64) float64 {
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

// rankedChart is a chart of horizontal bars. The name and the value of each bar are above the bar.
type rankedChart struct {
	ID, Title, Text string
	Height          float64
	Rows            []rankRow
}

type rankRow struct {
	Name, Value              string
	NameAt, ValueAt          float64
	X, Y, Length, FullLength float64
}

// rankValue is one row of a [rankedChart] with its value.
type rankValue struct {
	Name, Text string
	Value      float64
}

// rank computes the rows of a chart of horizontal bars. A bar of the full width stands for the value `whole`. If a
// row has a larger value, the full width stands for the largest value. If there are more than maxRows rows, the chart
// has only the first maxRows rows; the table below the chart has all rows.
func (p *Page) rank(c rankedChart, rows []rankValue, whole float64) *rankedChart {
	d := p.drawing()
	rows = rows[:min(len(rows), maxRows)]
	for _, r := range rows {
		whole = max(whole, r.Value)
	}
	c.Height = rowHeight * float64(len(rows))
	for i, r := range rows {
		long := 0.0
		if whole > 0 {
			long = chartWidth * r.Value / whole
		}
		c.Rows = append(c.Rows, rankRow{
			Name: shorten(r.Name), Value: r.Text, NameAt: d.leftEdge(0, 0), ValueAt: d.leftEdge(chartWidth, 0),
			X: d.leftEdge(0, long), Y: rowHeight * float64(i), Length: long, FullLength: chartWidth,
		})
	}
	return &c
}

func shorten(name string) string {
	if letters := []rune(name); len(letters) > maxLetters {
		return string(letters[:maxLetters-1]) + "…"
	}
	return name
}

// viewBox returns the attribute viewBox of the chart's SVG element.
func (c *rankedChart) viewBox() string {
	return "0 0 " + formatCoordinate(chartWidth) + " " + formatCoordinate(c.Height)
}

// formatCoordinate formats a coordinate of an SVG drawing.
func formatCoordinate(x float64) string {
	return strconv.FormatFloat(math.Round(x*100)/100, 'f', -1, 64)
}
