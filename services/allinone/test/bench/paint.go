package bench

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// PagePaint is the measurement of one step of the booking page. The browser simulates a phone with an empty cache and a
// slow connection. The step is opened several times. The field Largest is the median of these views; the numbers of
// bytes are those of the last view.
type PagePaint struct {
	Page    string
	Largest time.Duration // from the start of the navigation to the Largest Contentful Paint
	HTML    int64         // transferred bytes, as for Script and Style
	Script  int64
	Style   int64
}

// The speed of the slow connection, and the limits for a booking step on this connection (pages.md).
const (
	downloadRate   = 1_600_000 / 8 // bytes a second
	networkLatency = 150           // milliseconds
	maxPaintTime   = 1200 * time.Millisecond
	maxScript      = 25 << 10
	maxStyle       = 15 << 10
)

// measurePages opens the steps of the booking page and the owner's calendar of a full week in Chromium. measurePages
// adds the results to `report`. If the machine has no Chromium, measurePages measures nothing.
func (w *system) measurePages(ctx context.Context, report *Report) error {
	if _, err := exec.LookPath("chromium"); err != nil {
		_, _ = fmt.Fprintln(w.o.Progress, "there is no chromium here: how pages are painted is not measured")
		return nil
	}
	profile, err := os.MkdirTemp("", "slotmesh-bench-chromium-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(profile) }()
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.UserDataDir(profile),
		chromedp.WSURLReadTimeout(answerTimeout))
	ctx, stop := chromedp.NewExecAllocator(ctx, options...)
	defer stop()
	ctx, closeAll := chromedp.NewContext(ctx)
	defer closeAll()
	defer func() { _ = chromedp.Cancel(ctx) }() // waits until Chromium has ended
	if err := chromedp.Do(ctx); err != nil {
		return fmt.Errorf("start chromium: %w", err)
	}
	if report.Painted, err = w.measurePaint(ctx); err != nil {
		return err
	}
	report.Week, err = w.measureWeek(ctx)
	return err
}

// measurePaint measures the steps of the booking page, and its first step with pictures. Each view uses a new browser profile. The argument `ctx` must be
// the context of the browser (chromedp).
func (w *system) measurePaint(ctx context.Context) ([]PagePaint, error) {
	pictured, err := w.publishPictured()
	if err != nil {
		return nil, fmt.Errorf("publish a salon with pictures: %w", err)
	}
	var all []PagePaint
	for _, step := range append(w.listSteps(), step{"what, with pictures", "/b/" + pictured}) {
		_, _ = fmt.Fprintf(w.o.Progress, "painting %s\n", step.name)
		p, err := w.measureStep(ctx, step)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", step.name, err)
		}
		all = append(all, p)
	}
	return all, nil
}

type step struct{ name, path string }

// listSteps returns the steps of a booking on the booking page, with their URLs.
func (w *system) listSteps() []step {
	chosen := url.Values{"service": {w.readSalon.services[0].String()}}
	chosen.Set("staff", "any")
	when := chosen.Encode()
	chosen.Set("date", tomorrow.Format(time.DateOnly))
	chosen.Set("time", fmt.Sprintf("%02d:00", openingHour))
	base := "/b/" + w.readSalon.slug
	return []step{{"what", base}, {"when", base + "/when?" + when},
		{"details", base + "/details?" + chosen.Encode()}}
}

// measureStep opens a step o.Views times and returns the measurement of the step.
func (w *system) measureStep(ctx context.Context, s step) (PagePaint, error) {
	p := PagePaint{Page: s.name}
	var took []time.Duration
	for range w.o.Views {
		seen, err := w.view(ctx, w.addresses.Front+s.path)
		if err != nil {
			return p, err
		}
		took = append(took, time.Duration(seen.Largest*float64(time.Millisecond)))
		p.HTML, p.Script, p.Style = seen.HTML, seen.Script, seen.Style
	}
	slices.Sort(took)
	p.Largest = took[len(took)/2]
	return p, nil
}

// viewTimes contains the browser's measurements of one view.
type viewTimes struct {
	Largest             float64 // milliseconds
	HTML, Script, Style int64
}

// viewScript is a script that runs in the page and returns the values of [viewTimes]. It waits until half a second after
// the page and its pictures are loaded, because a picture can be the largest paint. For each kind of element, it adds up
// the sizes of the resources that such elements have loaded.
const viewScript = `new Promise(done => document.readyState === "complete" ? done() : addEventListener("load", done))
	.then(() => new Promise(done => setTimeout(done, 500)))
	.then(() => new Promise(done => new PerformanceObserver(list => {
		const asked = kind => performance.getEntriesByType("resource").filter(r => r.initiatorType === kind).reduce((sum, r) => sum + r.encodedBodySize, 0);
		done({Largest: list.getEntries().at(-1).startTime, HTML: performance.getEntriesByType("navigation")[0].encodedBodySize, Script: asked("script"), Style: asked("link")});
	}).observe({type: "largest-contentful-paint", buffered: true})))`

// view opens a URL once, as a phone with a slow connection and an empty cache.
func (w *system) view(ctx context.Context, address string) (viewTimes, error) {
	var s viewTimes
	ctx, leave := chromedp.NewContext(ctx, chromedp.WithNewBrowserContext())
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(390, 844)); err != nil {
		return s, err
	}
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		return s, err
	}
	if _, err := chromedp.Call(ctx, network.EmulateNetworkConditionsByRule,
		network.EmulateNetworkConditionsByRuleParams{
			MatchedNetworkConditions: []*network.Conditions{{Latency: networkLatency, DownloadThroughput: downloadRate,
				UploadThroughput: downloadRate}},
		}); err != nil {
		return s, err
	}
	headers := network.Headers{}
	from := newClientHeaders(w.requestNumber.Add(1))
	headers[from[0]] = from[1]
	if _, err := chromedp.Call(ctx, network.SetExtraHTTPHeaders,
		network.SetExtraHTTPHeadersParams{Headers: headers}); err != nil {
		return s, err
	}
	if err := chromedp.Do(ctx, chromedp.Navigate(address)); err != nil {
		return s, err
	}
	return evaluate[viewTimes](ctx, viewScript)
}
