package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/google/uuid"
)

// Week is the measurement of the owner's calendar in a desktop browser. The calendar shows a week with [weekBookings]
// bookings. The calendar is opened several times; the values are those of the view with the median Longest.
type Week struct {
	Boxes   int           // number of displayed bookings
	Longest time.Duration // longest task until 1 s after the load event; 0 if all took less than 50 ms
	Loaded  time.Duration // from the start of the navigation to the load event
}

// The number of bookings in the displayed week, and the limit for the longest task of the page. minLongTask is the
// minimum duration of a task that Chromium reports.
const (
	weekMembers        = 20
	weekBookings       = 2000
	weekBookingsPerDay = 15 // bookings of each staff member per day, without gaps; the first begins at nine o'clock
	maxTaskTime        = 100 * time.Millisecond
	minLongTask        = 50 * time.Millisecond
)

// lastWeekStart is the start of the first booking on the last day of the displayed week. The last day is a Sunday: the
// language of the calendar is British English, in which a week begins on Monday.
var lastWeekStart = time.Date(2027, time.March, 14, 9, 0, 0, 0, time.UTC)

// measureWeek creates a business with a full week of bookings, opens the calendar of that week as an operator and
// measures it. The argument `ctx` must be the context of the browser (chromedp).
func (w *system) measureWeek(ctx context.Context) (*Week, error) {
	_, _ = fmt.Fprintf(w.o.Progress, "drawing a week of %d bookings\n", weekBookings)
	s := newSalon("week")
	for i := len(s.staff); i < weekMembers; i++ {
		s.staff = append(s.staff, uuid.NewSHA1(s.id, []byte(memberKey(i))))
	}
	s, err := w.publishSalon(ctx, s, 0)
	if err != nil {
		return nil, err
	}
	if _, err := w.pool.Exec(ctx, insertBookings, []uuid.UUID{s.id}, s.staff, []int{weekBookings}, weekMembers,
		weekBookingsPerDay, lastWeekStart, s.services[:1]); err != nil {
		return nil, fmt.Errorf("make a week: %w", err)
	}
	ctx, leave := chromedp.NewContext(ctx, chromedp.WithNewBrowserContext())
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	if err := w.signIn(ctx); err != nil {
		return nil, fmt.Errorf("sign in: %w", err)
	}
	var all []Week
	for range w.o.Views {
		seen, err := w.viewWeek(ctx, s.slug)
		if err != nil {
			return nil, err
		}
		all = append(all, *seen)
	}
	slices.SortFunc(all, func(a, b Week) int { return int(a.Longest - b.Longest) })
	return &all[len(all)/2], nil
}

// signIn signs the browser in with an invitation link. From then on, each page records its long tasks from the
// beginning of the page.
func (w *system) signIn(ctx context.Context) error {
	var invitation struct{ Link string }
	var read error
	status, err := w.http.send(call{
		Method: http.MethodPost, URL: w.addresses.Admin + "/admin/invitations",
		Body:    []byte(`{"email":"bench@example.com","role":"operator"}`),
		Headers: []string{"Authorization", "Bearer " + adminToken, "Content-Type", "application/json"},
	}, func(body []byte) { read = json.Unmarshal(body, &invitation) })
	if err != nil || read != nil || status != http.StatusCreated {
		return fmt.Errorf("invite: %d %w %w", status, err, read)
	}
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1280, 900),
		chromedp.Navigate(w.addresses.Admin+invitation.Link)); err != nil {
		return err
	}
	const press = `fetch(location.pathname, {method: "POST", headers: {"Content-Type": "application/x-www-form-urlencoded"}, body: ""}).then(r => r.status)`
	answered, err := evaluate[int](ctx, press)
	if err != nil || answered != http.StatusOK {
		return fmt.Errorf("the link answers %d: %w", answered, err)
	}
	_, err = chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: `window.longTasks = []; new PerformanceObserver(list => longTasks.push(...list.getEntries())).observe({type: "longtask"})`,
	})
	return err
}

// weekScript waits until one second after the load event, so that scripts can finish, and returns the measurements.
const weekScript = `new Promise(done => setTimeout(() => done({
	Boxes: document.querySelectorAll(".box").length, Longest: Math.max(0, ...longTasks.map(task => task.duration)),
	Loaded: performance.getEntriesByType("navigation")[0].loadEventStart}), 1000))`

func (w *system) viewWeek(ctx context.Context, slug string) (*Week, error) {
	if err := chromedp.Do(ctx,
		chromedp.Navigate(w.addresses.Admin+"/business/"+slug+"/calendar?lang=en-GB&view=week&date="+
			lastWeekStart.AddDate(0, 0, -6).Format(time.DateOnly))); err != nil {
		return nil, err
	}
	seen, err := evaluate[struct {
		Boxes           int
		Longest, Loaded float64 // milliseconds
	}](ctx, weekScript)
	if err != nil {
		return nil, err
	}
	if seen.Boxes != weekBookings {
		return nil, fmt.Errorf("the week shows %d bookings, not %d", seen.Boxes, weekBookings)
	}
	milliseconds := func(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }
	return &Week{seen.Boxes, milliseconds(seen.Longest), milliseconds(seen.Loaded)}, nil
}

// evaluate returns the value of the given JavaScript expression in the page. If the value is a promise, evaluate waits
// for it.
func evaluate[T any](ctx context.Context, expression string) (T, error) {
	var value T
	yes := true
	result, err := chromedp.Call(ctx, runtime.Evaluate, runtime.EvaluateParams{Expression: expression,
		ReturnByValue: &yes, AwaitPromise: &yes})
	if err != nil {
		return value, err
	}
	if result.ExceptionDetails != nil {
		return value, &chromedp.ExceptionError{ExceptionDetails: result.ExceptionDetails}
	}
	return value, json.Unmarshal(result.Result.Value, &value)
}
