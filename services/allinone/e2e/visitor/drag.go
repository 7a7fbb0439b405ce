package visitor

import (
	"fmt"

	"github.com/chromedp/cdproto/input"
)

// Drag presses the pointer at one position, moves it to another position and releases it. The arguments `from` and `to`
// are scripts that return the positions as {x, y} in the browser window. If the argument `isHeld` is not "", Drag
// simulates a finger instead of a mouse. The finger does not move until the script `isHeld` returns true.
func (v *Visitor) Drag(from, to, isHeld string) {
	v.t.Helper()
	begin, end := v.locate(from), v.locate(to)
	if isHeld != "" {
		v.sendTouch(input.DispatchTouchEventTypeTouchStart, begin)
		v.Await("what the finger rests on is taken up", isHeld)
		v.sendTouch(input.DispatchTouchEventTypeTouchMove, point{(begin.X + end.X) / 2, (begin.Y + end.Y) / 2})
		v.sendTouch(input.DispatchTouchEventTypeTouchMove, end)
		v.sendTouch(input.DispatchTouchEventTypeTouchEnd)
		return
	}
	v.sendMouse(input.DispatchMouseEventTypeMousePressed, begin)
	v.sendMouse(input.DispatchMouseEventTypeMouseMoved, point{(begin.X + end.X) / 2, (begin.Y + end.Y) / 2})
	v.sendMouse(input.DispatchMouseEventTypeMouseMoved, end)
	v.sendMouse(input.DispatchMouseEventTypeMouseReleased, end)
}

// locate returns the position that the given script returns. It waits until the page is loaded and painted and no
// navigation is running. It also waits until the script returns the same position twice.
func (v *Visitor) locate(script string) point {
	v.t.Helper()
	where := fmt.Sprintf(`(() => {
		const at = %s ? %s : null;
		return at && document.elementFromPoint(at.x, at.y) !== document.documentElement ? at : null;
	})()`, loadedCondition, script)
	var at *point
	v.await("there is no place "+script, func() (bool, error) {
		return v.awaitStable(func() (bool, error) {
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

func (v *Visitor) sendMouse(kind input.DispatchMouseEventType, at point) {
	v.t.Helper()
	call(v, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: at.X, Y: at.Y,
		Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1})
}

func (v *Visitor) sendTouch(kind input.DispatchTouchEventType, at ...point) {
	v.t.Helper()
	points := make([]*input.TouchPoint, len(at))
	for i, p := range at {
		points[i] = &input.TouchPoint{X: p.X, Y: p.Y}
	}
	call(v, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points})
}
