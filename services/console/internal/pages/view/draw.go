package view

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/sales"
)

// calendarDrawing is a calendar with the places of its HTML elements, as classes. `Style` has the rules of these classes
// for the page's one style sheet, because the content security policy forbids style attributes.
type calendarDrawing struct {
	From, To int // hours of the day at which the calendar begins and ends
	Columns  []columnDrawing
	Style    string
}

type columnDrawing struct {
	sales.Column
	Closed  []string // classes of the HTML elements that show closed times
	Buffers []string
	Boxes   []box
	Blocks  []block
	Free    []gap
	Now     string // class of the line at the current time; "" if the column is not of today
}

// block is a blocked time of the calendar. It has the class of its place, and the owner's note.
type block struct{ Place, Reason string }

// gap is free time in the calendar, with the class of its place. Its element links to the booking form.
type gap struct {
	Place string
	sales.Minutes
}

// box is a booking or a class session in the calendar, with the class of its place. The class session's guests have
// no boxes of their own. If the offer no longer has the session, all of its guests share one box.
type box struct {
	sales.PlacedBooking
	Session *sales.PlacedSession // nil for a booking
	Place   string
	Guests  int // number of bookings of the class session; 1 for an appointment
	People  int
	service int  // index of the booking's service in the offer; the colour depends on it
	lines   int  // number of lines of text that fit into the box, from 1 to maxLines
	isSlim  bool // true if other boxes stand beside the box
	isBare  bool // true if so many boxes stand beside the box that its text is only its title
}

const (
	hour     = 60
	maxLines = 4
	// lineHeight and boxEdge are the height of a line of text and of a box's border, padding and distance, in rem.
	lineHeight, boxEdge = 0.975, 0.275
	// maxLanes is the number of boxes side by side that widen their column. More boxes are too narrow for a text.
	maxLanes = 6
)

// hourHeights are the heights of one hour in rem, by the zoom of the calendar. With the first one, a quarter of an hour
// has one readable line of text, and half an hour has two.
var hourHeights = [...]float64{5, 7.5, 10}

// MaxZoom is the largest zoom of the calendar. The smallest is 0.
const MaxZoom = len(hourHeights) - 1

// canvas gives a class to each place of a drawn element, and collects the CSS rules of these classes. Elements with the
// same place share a class, so that the style sheet of a full week stays small.
type canvas struct {
	first  int     // minute of the day at the top of the calendar
	minute float64 // height of one minute, in rem
	rules  strings.Builder
	places map[string]string // class names by the CSS declarations of the place
	lanes  int               // largest number of boxes side by side
}

// put returns the class of an element with its position and size. The argument `at` is the time of the element.
//
// Elements that overlap in time are drawn side by side. The argument `tracks` is the number of elements side by side,
// and `track` is the index of this element among them, from 0.
func (c *canvas) put(at sales.Minutes, track, tracks int) string {
	place := fmt.Sprintf("top:%.3frem;height:%.3frem", float64(at.From-c.first)*c.minute, float64(at.To-at.From)*c.minute)
	if tracks > 1 {
		place += fmt.Sprintf(";inset-inline-start:%.2f%%;inline-size:%.2f%%", 100*float64(track)/float64(tracks),
			100/float64(tracks))
	}
	class, ok := c.places[place]
	if !ok {
		class = "at-" + strconv.Itoa(len(c.places)+1)
		c.places[place] = class
		c.rules.WriteString("." + class + "{" + place + "}")
	}
	return class
}

// draw computes the positions of all elements of a calendar: bookings, free, closed and blocked times, and the line at
// the current time.
func (p *Page) draw(cal *sales.Calendar, zoom int) calendarDrawing {
	d := calendarDrawing{From: 8, To: 18}
	d.From, d.To = computeShownHours(cal, d.From, d.To)
	c := &canvas{first: d.From * hour, minute: hourHeights[zoom] / hour, places: map[string]string{}, lanes: 1}
	all := sales.Minutes{From: d.From * hour, To: d.To * hour}
	now := p.toLocal(p.Now)
	today := timespan.NewDate(now.Year(), now.Month(), now.Day())
	for _, col := range cal.Columns {
		out := columnDrawing{Column: col}
		for _, closed := range findClosed(col.Open, all) {
			out.Closed = append(out.Closed, c.put(closed, 0, 1))
		}
		for _, b := range col.Blocked {
			if b.To > all.From && b.From < all.To {
				out.Blocks = append(out.Blocks,
					block{c.put(sales.Minutes{From: max(b.From, all.From), To: min(b.To, all.To)}, 0, 1), b.Reason})
			}
		}
		for _, free := range p.findFree(cal, &col) {
			out.Free = append(out.Free, gap{c.put(free, 0, 1), free})
		}
		p.placeBoxes(c, &out)
		if minute := now.Hour()*hour + now.Minute(); col.Date == today && minute >= all.From && minute < all.To {
			out.Now = c.put(sales.Minutes{From: minute, To: minute}, 0, 1)
		}
		d.Columns = append(d.Columns, out)
	}
	// The style sheet fixes the number of columns. The browser loads the columns one after another. If the number were
	// not fixed, each new column would move the columns that are already shown.
	d.Style = c.rules.String() +
		fmt.Sprintf(".calendar{--hour:%.1frem;grid-template-columns:3.5rem repeat(%d,minmax(%.2frem,1fr))}"+
			".day-height{height:%.3[4]frem}.column{contain-intrinsic-block-size:calc(2.5rem + %.3[4]frem)}",
			hourHeights[zoom], max(1, len(d.Columns)),
			max(narrowestColumn, float64(min(c.lanes, maxLanes))*narrowestLane), float64(all.To-all.From)*c.minute)
	return d
}

// narrowestColumn and narrowestLane are the minimum widths of a column and of a box beside others, in rem.
const narrowestColumn, narrowestLane = 9.0, 4.0

// shortestGap is the minimum length, in minutes, of free time that the calendar shows.
const shortestGap = 15

// findFree returns the free periods of a column that are at least shortestGap long. It omits past periods, and the
// past part of the present period. It returns no period if the person may not book, or if some bookings of the calendar
// could not be read.
func (p *Page) findFree(cal *sales.Calendar, col *sales.Column) []sales.Minutes {
	if cal.IsUnknown || cal.HasMore || !p.May(access.Serve) {
		return nil
	}
	now := p.toLocal(p.Now)
	today, minute := timespan.NewDate(now.Year(), now.Month(), now.Day()), now.Hour()*hour+now.Minute()
	var free []sales.Minutes
	for _, m := range col.Free {
		if col.Date == today {
			m.From = max(m.From, (minute+4)/5*5)
		}
		if col.Date >= today && m.To-m.From >= shortestGap {
			free = append(free, m)
		}
	}
	return free
}

// formatFormTime formats a minute of the day as HH:MM, as forms send times.
func formatFormTime(minute int) string { return fmt.Sprintf("%02d:%02d", minute/hour%24, minute%hour) }

// formatClock formats a minute of the day as a time in the reader's language.
func (p *Page) formatClock(minute int) string {
	return p.Words.Clock(time.Date(2000, 1, 1, 0, minute, 0, 0, time.UTC))
}

// formatMinutes formats the start and the end of a period of the day.
func (p *Page) formatMinutes(m sales.Minutes) string {
	return p.formatClock(m.From) + " – " + p.formatClock(m.To)
}

// computeShownHours returns the hour at which the calendar begins and the hour at which it ends. The arguments `from`
// and `to` are the default hours. The function extends this period until the period contains all working hours, and all
// bookings with their buffers.
func computeShownHours(cal *sales.Calendar, from, to int) (int, int) {
	first, last := from*hour, to*hour
	for _, col := range cal.Columns {
		for _, o := range col.Open {
			first, last = min(first, o.From), max(last, o.To)
		}
		for _, b := range col.Bookings {
			first, last = min(first, b.Before.From), max(last, b.After.To)
		}
		for _, s := range col.Sessions {
			first, last = min(first, s.At.From), max(last, s.At.To)
		}
	}
	return first / hour, (last + hour - 1) / hour
}

// findClosed returns the parts of a period that are outside the working hours. The argument `all` is the period; the
// argument `open` has the working hours, sorted.
func findClosed(open []sales.Minutes, all sales.Minutes) []sales.Minutes {
	var closed []sales.Minutes
	at := all.From
	for _, o := range open {
		if o.From > at {
			closed = append(closed, sales.Minutes{From: at, To: min(o.From, all.To)})
		}
		at = max(at, o.To)
	}
	if at < all.To {
		closed = append(closed, sales.Minutes{From: at, To: all.To})
	}
	return closed
}

// placeBoxes computes the positions of the bookings of a column. Bookings that overlap are drawn side by side, each in
// one lane, which is a part of the column's width. Each group of overlapping bookings has as many lanes as the largest
// number of bookings at the same time.
func (p *Page) placeBoxes(c *canvas, col *columnDrawing) {
	boxes := p.groupSessions(col.Bookings)
	for i := range col.Sessions {
		boxes = append(boxes, p.newSessionBox(&col.Sessions[i]))
	}
	slices.SortStableFunc(boxes, func(a, b box) int { return a.Before.From - b.Before.From })
	for len(boxes) > 0 {
		var ends []int // end of the last booking of each lane
		lanes := make([]int, 0, len(boxes))
		reach := boxes[0].After.To
		for _, b := range boxes {
			if len(lanes) > 0 && b.Before.From >= reach {
				break
			}
			lane := slices.IndexFunc(ends, func(end int) bool { return end <= b.Before.From })
			if lane < 0 {
				lane, ends = len(ends), append(ends, 0)
			}
			ends[lane] = b.After.To
			reach = max(reach, b.After.To)
			lanes = append(lanes, lane)
		}
		for i, lane := range lanes {
			b := boxes[i]
			for _, buffer := range []sales.Minutes{b.Before, b.After} {
				if buffer.From < buffer.To && b.Guests == 1 {
					col.Buffers = append(col.Buffers, c.put(buffer, lane, len(ends)))
				}
			}
			b.Place, b.lines, b.isSlim = c.put(b.At, lane, len(ends)), c.countLines(b.At), len(ends) > 1
			b.isBare = len(ends) > maxLanes
			c.lanes = max(c.lanes, len(ends))
			col.Boxes = append(col.Boxes, b)
		}
		boxes = boxes[len(lanes):]
	}
}

// describe returns the text of a box that is too narrow for it.
func (p *Page) describe(b box) string {
	what := p.customerOfBooking(b.Booking)
	if b.Session != nil {
		what = b.Session.Service.Name
	}
	return p.formatMinutes(b.At) + " · " + what
}

// countLines returns the number of lines of text that fit into a box, from 1 to maxLines.
func (c *canvas) countLines(at sales.Minutes) int {
	return min(max(1, int((float64(at.To-at.From)*c.minute-boxEdge)/lineHeight)), maxLines)
}

// newSessionBox returns the box of a class session.
func (p *Page) newSessionBox(s *sales.PlacedSession) box {
	return box{
		PlacedBooking: sales.PlacedBooking{
			Booking: booking.Booking{StartsAt: s.StartsAt, EndsAt: endTime(s.Session), Status: booking.StatusConfirmed},
			At:      s.At, Before: sales.Minutes{From: s.At.From, To: s.At.From},
			After: sales.Minutes{From: s.At.To, To: s.At.To},
		},
		Session: s, Guests: 1, service: p.findServiceIndex(s.Service.ID),
	}
}

// groupSessions returns the boxes of the bookings of a column. It combines all bookings of a class session into one
// box.
func (p *Page) groupSessions(bookings []sales.PlacedBooking) []box {
	type session struct {
		id string
		at time.Time
	}
	var boxes []box
	at := map[session]int{}
	for _, b := range bookings {
		one := box{PlacedBooking: b, Guests: 1, People: b.PartySize, service: p.numberService(b)}
		if b.ClassScheduleID != nil {
			key := session{b.ClassScheduleID.String(), b.StartsAt}
			if i, ok := at[key]; ok {
				boxes[i].Guests++
				boxes[i].People += b.PartySize
				continue
			}
			at[key] = len(boxes)
		}
		boxes = append(boxes, one)
	}
	return boxes
}

func (p *Page) numberService(b sales.PlacedBooking) int {
	if len(b.Services) == 0 {
		return 0
	}
	return p.findServiceIndex(b.Services[0].ID)
}

func (p *Page) findServiceIndex(id uuid.UUID) int {
	return max(0, slices.IndexFunc(p.Business.Services, func(s catalog.Service) bool { return s.ID == id }))
}
