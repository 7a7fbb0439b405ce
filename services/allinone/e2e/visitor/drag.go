package visitor

import (
	"fmt"

	"github.com/chromedp/cdproto/input"
)

// Drag presses the pointer at one position, moves it to another position and releases it. The arguments `from` and `to`
// are scripts that return the positions as {x, y} in the window. If the argument `held` is not "", Drag uses a finger,
// which does not move until the script `held` returns true.
func (v *Visitor) Drag(from, to, held string) {
	v.t.Helper()
	begin, end := v.place(from), v.place(to)
	if held != "" {
		v.touch(input.DispatchTouchEventTypeTouchStart, begin)
		v.Until("what the finger rests on is taken up", held)
		v.touch(input.DispatchTouchEventTypeTouchMove, point{(begin.X + end.X) / 2, (begin.Y + end.Y) / 2})
		v.touch(input.DispatchTouchEventTypeTouchMove, end)
		v.touch(input.DispatchTouchEventTypeTouchEnd)
		return
	}
	v.mouse(input.DispatchMouseEventTypeMousePressed, begin)
	v.mouse(input.DispatchMouseEventTypeMouseMoved, point{(begin.X + end.X) / 2, (begin.Y + end.Y) / 2})
	v.mouse(input.DispatchMouseEventTypeMouseMoved, end)
	v.mouse(input.DispatchMouseEventTypeMouseReleased, end)
}

// place returns the position that a script returns. It waits until the page is loaded and painted and no navigation is
// running, and until the script returns the same position twice.
func (v *Visitor) place(script string) point {
	v.t.Helper()
	where := fmt.Sprintf(`(() => {
		const at = %s ? %s : null;
		return at && document.elementFromPoint(at.x, at.y) !== document.documentElement ? at : null;
	})()`, whole, script)
	var at *point
	v.until("there is no place "+script, func() (bool, error) {
		return v.stays(func() (bool, error) {
			first, err := tryEval[*point](v, where)
			if err != nil || first == nil {
				return false, err
			}
			if at, err = tryEval[*point](v, where); err != nil || at == nil {
				return false, err
			}
			return *at == *first, nil
		})
	})
	return *at
}

func (v *Visitor) mouse(kind input.DispatchMouseEventType, at point) {
	v.t.Helper()
	call(v, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: at.X, Y: at.Y,
		Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1})
}

func (v *Visitor) touch(kind input.DispatchTouchEventType, at ...point) {
	v.t.Helper()
	points := make([]*input.TouchPoint, len(at))
	for i, p := range at {
		points[i] = &input.TouchPoint{X: p.X, Y: p.Y}
	}
	call(v, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points})
}
