package visitor

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

func call[P, R any](v *Visitor, command cdp.Command[P, R], params P) R {
	v.t.Helper()
	answer, err := chromedp.Call(v.ctx, command, params)
	v.failOnError(err)
	return answer
}

// await calls the function `there` repeatedly until it returns true, because pages change asynchronously. If `there`
// does not return true within maxWait, the test fails with the message in the argument `label`.
func (v *Visitor) await(label string, there func() (bool, error)) {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(v.ctx, maxWait)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		ok, err := there()
		if ok {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			v.SaveScreenshot("failed-" + strings.NewReplacer("/", "-", " ", "-").Replace(v.t.Name()))
			seen, _ := tryEval[string](v, "document.body?.innerText")
			held, _ := tryEval[[]string](v, `[...document.querySelectorAll("`+fillableElements+
				`")].map(e => e.name + "=" + e.value)`)
			v.t.Fatalf("%s (%v); the fields hold %q, and the page says:\n%s", label, err, held, seen)
		}
	}
}

// findScript is a script that finds an element by its accessible name. The script prefers an element whose whole name
// is the given name. Otherwise the script finds an element whose name begins with the given name. The script ignores
// hidden and disabled elements.
const findScript = `((kinds, name) => {
	const flat = s => (s || "").replace(/\s+/g, " ").trim();
	const named = e => e.getAttribute("aria-label") || (e.labels?.length ? [...e.labels].map(l => l.innerText).join(" ") : "") || e.innerText || e.value || e.title;
	const all = [...document.querySelectorAll(kinds)].filter(e => !e.disabled && (e.checkVisibility({visibilityProperty: true}) || e.labels?.[0]?.checkVisibility()));
	return all.find(e => flat(named(e)) === name) || all.find(e => flat(named(e)).startsWith(name)) || null;
})(%q, %q)`

const (
	pressableElements = "a[href], button, summary, input[type=submit], input[type=radio], input[type=checkbox], " +
		"[role=button], [role=gridcell], [role=option]"
	fillableElements = "input:not([type=hidden]):not([type=submit]):not([type=radio]):not([type=checkbox]), " +
		"textarea, select"
)

// Await waits until the given JavaScript expression is true in the page or in the current frame. The argument `label`
// describes the expression in the message of a failed test.
func (v *Visitor) Await(label, expression string) {
	v.t.Helper()
	v.await("it does not come to be that "+label, func() (bool, error) { return tryEval[bool](v, expression) })
}

// loadedCondition is a JavaScript condition that is true when a page is painted and its scripts are loaded. The visitor
// waits for this condition before each input. Before the scripts are loaded, event handlers may be missing. Before the
// page is painted, the browser drops the input.
const loadedCondition = `(document.readyState === "complete" && performance.getEntriesByType("paint").length > 0)`

// AwaitLoad waits until the page is loaded with its scripts and no navigation is running.
func (v *Visitor) AwaitLoad() {
	v.t.Helper()
	v.await("the page is never whole", func() (bool, error) {
		return v.awaitStable(func() (bool, error) { return tryEval[bool](v, loadedCondition) })
	})
}

// ExpectText waits until the page shows all given texts.
func (v *Visitor) ExpectText(words ...string) {
	v.t.Helper()
	for _, text := range words {
		v.await(fmt.Sprintf("%q is not to be seen", text), func() (bool, error) {
			return tryEval[bool](v, fmt.Sprintf(`(document.body?.innerText ?? "").replace(/\s+/g, " ").includes(%q)`,
				text))
		})
	}
}

// ExpectNoText fails the test if the page shows one of the given texts now.
func (v *Visitor) ExpectNoText(words ...string) {
	v.t.Helper()
	for _, text := range words {
		if strings.Contains(v.Text(), text) {
			v.t.Errorf("%q is to be seen:\n%s", text, v.Text())
		}
	}
}

// Text returns the visible text of the page. It replaces each sequence of spaces and line breaks with one space.
func (v *Visitor) Text() string {
	v.t.Helper()
	return Eval[string](v, `document.body.innerText.replace(/\s+/g, " ").trim()`)
}

// ExpectElement waits until the first element that matches the given CSS selector is visible.
func (v *Visitor) ExpectElement(selector string) {
	v.t.Helper()
	v.await(selector+" is not there", func() (bool, error) {
		return tryEval[bool](v, fmt.Sprintf(`!!document.querySelector(%q)?.checkVisibility()`, selector))
	})
}

// Press clicks the link, button or checkbox with the given name. It waits until a point of the element is not covered
// by another element, and clicks there with the pointer.
func (v *Visitor) Press(name string) {
	v.t.Helper()
	v.pressAt(fmt.Sprintf("nothing called %q can be pressed", name), fmt.Sprintf(findScript, pressableElements, name),
		1)
}

// PressTwice clicks the element with the given name twice in quick succession, like an impatient person.
func (v *Visitor) PressTwice(name string) {
	v.t.Helper()
	v.pressAt(fmt.Sprintf("nothing called %q can be pressed", name), fmt.Sprintf(findScript, pressableElements, name),
		2)
}

// PressElement clicks the first element that matches the given CSS selector.
func (v *Visitor) PressElement(selector string) {
	v.t.Helper()
	v.pressAt("nothing that is "+selector+" can be pressed", fmt.Sprintf("document.querySelector(%q)", selector), 1)
}

// point is a position in the browser window, in CSS pixels.
type point struct{ X, Y float64 }

func (v *Visitor) pressAt(missing, element string, times int) {
	v.t.Helper()
	var at *point
	// The script returns a point of the element. If a checkbox is not painted, it returns a point of the checkbox's
	// label. During a navigation, the element at that point may be the root element; the script then returns null.
	where := fmt.Sprintf(`(() => {
		let e = %s;
		if (!e || !`+loadedCondition+`) return null;
		if (!e.checkVisibility() || e.getBoundingClientRect().width < 2) e = e.labels?.[0] ?? e;
		e.scrollIntoView({block: "center", inline: "center", behavior: "instant"});
		const box = e.getClientRects()[0], x = box.x + box.width / 2, y = box.y + box.height / 2, top = document.elementFromPoint(x, y);
		return top && top !== document.documentElement && (e.contains(top) || top.contains(e) || e.labels && [...e.labels].some(l => l.contains(top))) ? {x, y} : null;
	})()`, element)
	spot := func() (*point, error) {
		p, err := tryEval[*point](v, where)
		if err != nil || p == nil {
			return nil, err
		}
		offset := v.offset(p.Y)
		return &point{p.X + offset.X, p.Y + offset.Y}, nil
	}
	v.await(missing, func() (bool, error) {
		return v.awaitStable(func() (bool, error) {
			first, err := spot()
			if err != nil || first == nil {
				return false, err
			}
			if at, err = spot(); err != nil || at == nil || *at != *first {
				return false, err
			}
			return true, nil
		})
	})
	for n := range times {
		for _, kind := range []input.DispatchMouseEventType{input.DispatchMouseEventTypeMousePressed,
			input.DispatchMouseEventTypeMouseReleased} {
			call(v, input.DispatchMouseEvent, input.DispatchMouseEventParams{
				Type: kind, X: at.X, Y: at.Y, Button: input.MouseButtonLeft, Buttons: 1, ClickCount: int64(n + 1),
			})
		}
	}
}

// Fill replaces the value of the field with the given label. If the field is a list, Fill selects the option with the
// given text.
func (v *Visitor) Fill(label, text string) {
	v.t.Helper()
	v.fill(fmt.Sprintf("there is no field called %q", label), fmt.Sprintf(findScript, fillableElements, label), text)
}

// FillElement replaces the value of the first field that matches the given CSS selector.
func (v *Visitor) FillElement(selector, text string) {
	v.t.Helper()
	v.fill("there is no field that is "+selector, fmt.Sprintf("document.querySelector(%q)", selector), text)
}

func (v *Visitor) fill(missing, field, text string) {
	v.t.Helper()
	var how string // "set" or "typed"; the page may already be another one after a value is set
	put := fmt.Sprintf(`(() => {
		const e = %s;
		if (!e || !`+loadedCondition+`) return "";
		e.scrollIntoView({block: "center", behavior: "instant"});
		e.focus();
		if (e.tagName === "SELECT") {
			const entry = [...e.options].find(o => o.text.trim() === %q);
			if (!entry) return "";
			e.value = entry.value;
		} else if (e.type === "date" || e.type === "time" || e.type === "datetime-local") {
			e.value = %q;
		} else {
			e.select();
			return "typed";
		}
		e.dispatchEvent(new Event("input", {bubbles: true}));
		e.dispatchEvent(new Event("change", {bubbles: true}));
		return "set";
	})()`, field, text, text)
	v.await(missing, func() (bool, error) {
		return v.awaitStable(func() (bool, error) {
			var err error
			how, err = tryEval[string](v, put)
			return how != "", err
		})
	})
	if how == "typed" {
		if text == "" {
			v.PressKeys(kb.Delete)
			return
		}
		call(v, input.InsertText, input.InsertTextParams{Text: text})
	}
}

// Choose selects an option of the first list that matches the given CSS selector. The argument `place` is the index of
// the option, from 0.
func (v *Visitor) Choose(selector string, place int) {
	v.t.Helper()
	choose := fmt.Sprintf(`(e => {
		if (!e?.options[%d] || !`+loadedCondition+`) return false;
		e.selectedIndex = %d;
		e.dispatchEvent(new Event("change", {bubbles: true}));
		return true;
	})(document.querySelector(%q))`, place, place, selector)
	v.await("there is no list that is "+selector, func() (bool, error) {
		return v.awaitStable(func() (bool, error) { return tryEval[bool](v, choose) })
	})
}

// FieldValue waits until the page is loaded, and returns the value of the field with the given label.
func (v *Visitor) FieldValue(label string) string {
	v.t.Helper()
	v.AwaitLoad()
	return Eval[string](v, fmt.Sprintf(`(%s)?.value ?? "(no such field)"`,
		fmt.Sprintf(findScript, fillableElements, label)))
}

// PressKeys presses the given keys one after the other. The keys are constants of chromedp's package kb. PressKeys
// waits until the page is loaded, because a key has no effect before the page's event handlers exist.
func (v *Visitor) PressKeys(keys ...string) {
	v.t.Helper()
	v.AwaitLoad()
	for _, key := range keys {
		v.failOnError(chromedp.Do(v.ctx, chromedp.KeyEvent(key)))
	}
}

// Tab presses the Tab key until the element with the given name has the focus. If the page does not show the focus
// visibly, the test fails.
func (v *Visitor) Tab(name string) {
	v.t.Helper()
	const most = 150
	on := fmt.Sprintf(`document.activeElement !== null && document.activeElement === %s`,
		fmt.Sprintf(findScript, pressableElements+", "+fillableElements, name))
	for range most {
		v.PressKeys(kb.Tab)
		if Eval[bool](v, on) {
			if !Eval[bool](v, `(e => e.matches(":focus-visible") &&
				[null, "::after"].some(of => (s => s.outlineStyle !== "none" || s.boxShadow !== "none")(getComputedStyle(e, of))))(document.activeElement)`) {
				v.t.Errorf("the focus on %q is not seen", name)
			}
			return
		}
	}
	v.SaveScreenshot("no-tab")
	v.t.Fatalf("%q is not reached in %d steps of the Tab key; the page says:\n%s", name, most, v.Text())
}

// InFrame makes the first frame whose URL contains the argument `part` the current frame, and calls the function
// `look`. After the call, the page itself is current again. During the call, the frame may navigate to another page.
func (v *Visitor) InFrame(part string, look func()) {
	v.t.Helper()
	v.await("there is no frame of "+part, func() (bool, error) { return v.enterFrame(part) })
	defer func() { v.frame = "" }()
	look()
}

// enterFrame makes the first frame whose URL contains the argument `part` the current frame. If there is no such frame,
// enterFrame returns false.
func (v *Visitor) enterFrame(part string) (bool, error) {
	tree, err := chromedp.Call(v.ctx, page.GetFrameTree, cdp.Empty{})
	if err != nil {
		return false, err
	}
	var values []string
	for _, child := range tree.FrameTree.ChildFrames {
		if strings.Contains(child.Frame.URL, part) {
			v.frame = child.Frame.ID
			return true, nil
		}
		values = append(values, child.Frame.URL)
	}
	return false, fmt.Errorf("the frames show %q", values)
}

// offset returns the position of the current frame in the window, so that the caller can click inside the frame. If the
// vertical position `down` in the frame is not visible, offset first scrolls the window.
func (v *Visitor) offset(down float64) point {
	v.t.Helper()
	if v.frame == "" {
		return point{}
	}
	inside := v.frame
	v.frame = ""
	defer func() { v.frame = inside }()
	return *Eval[*point](v, fmt.Sprintf(`(frame => {
		scrollBy({top: frame.getBoundingClientRect().y + %f - innerHeight / 2, behavior: "instant"});
		const box = frame.getBoundingClientRect();
		return {x: box.x, y: box.y};
	})(document.querySelector("iframe"))`, down))
}
