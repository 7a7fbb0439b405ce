// Package visitor is a person at a browser, for end-to-end tests of pages: a Chromium that is started once, and in it as many visitors as
// a test needs, each with a window of its own and nothing remembered. Visitors find what they press and fill by the words on it, press
// with a real pointer, and see what is painted. What every page owes them, whatever it is about, [Visitor.Check] holds against it.
package visitor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/slotmesh/slotmesh/libs/testkit"
)

// axePackage holds the rules of accessibility that pages are held against.
const axePackage = "axe-core@4.14.1"

// patience bounds what a visitor waits for: a loaded machine keeps it.
const patience = 90 * time.Second

// Chromium is a browser at work until its test ends.
type Chromium struct {
	ctx context.Context
	axe string // axe-core, as a script
}

// Open starts the Chromium of this machine. Where it lacks one, or the rules of axe-core cannot be installed, the test is skipped; on CI it
// fails (see [testkit.Lacks]). The test's name ends with InABrowser, so that `-skip InABrowser` leaves it out.
func Open(t *testing.T) *Chromium {
	t.Helper()
	if test, _, _ := strings.Cut(t.Name(), "/"); !strings.HasSuffix(test, "InABrowser") {
		t.Fatalf("%s opens a browser: let its name end with InABrowser, so that -skip InABrowser leaves it out", test)
	}
	testkit.NeedChromium(t, "pages are tested over HTTP alone")
	axe := testkit.InstallNode(t, axePackage).File(t, "axe-core/axe.min.js")
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		// Its profile is in a folder that chromedp makes and removes: parts of the browser write there after it has ended, which a folder of the test's
		// does not bear.
		chromedp.NoSandbox, chromedp.DisableGPU,
		// A page and what embeds it share a process, so that a visitor reaches into both. The window's own parts, which nobody sees, would take a process
		// and a quarter of the time beside each page.
		chromedp.Flag("disable-features", "Translate,IsolateOrigins,site-per-process,WebUIOmniboxPopup,WebUIOmniboxAimPopup"), chromedp.Flag("disable-site-isolation-trials", true))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, closeAll := chromedp.NewContext(ctx, chromedp.WithErrorf(func(string, ...any) {}))
	t.Cleanup(func() {
		if err := chromedp.Cancel(ctx); err != nil {
			t.Errorf("Chromium did not close: %v", err)
		}
		closeAll()
		cancel()
	})
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("Chromium did not start: %v", err)
	}
	return &Chromium{ctx, string(axe)}
}

// As is how a visitor comes. The zero value is a phone in English, light, with JavaScript, in Lisbon.
type As struct {
	Width    int // CSS pixels; 0: 390, a phone
	Height   int // 0: 844
	Dark     bool
	Locale   string // such as ar or ja-JP; "": en
	Timezone string // ""; Europe/Lisbon
	NoScript bool
	Slow     bool              // the line is so slow that pages are painted piece by piece, which shows what moves when the next one comes
	MayShift float64           // Cumulative Layout Shift that is put up with; 0, as booking pages owe it
	Headers  map[string]string // sent with every request
	Heavy    bool              // the page is for developers: what its scripts weigh is not held against it
	NoRules  bool              // others see the same page at this width, and in these colours: the rules of axe-core, which are dear, are left to them
	Zoom     int               // percent; 0: 100. It makes the window so much smaller, as a browser's zoom does.
}

// slowLine is in bytes a second: some pages take a second and a half.
const slowLine = 8000

// Visitor is one person with a window. Their methods end the test where something is not as they say.
type Visitor struct {
	t   *testing.T
	c   *Chromium
	ctx context.Context
	as  As

	mu       sync.Mutex
	asked    []request
	problems []string
	coming   map[cdp.FrameID]bool // the frames for which another page is under way
	turns    int                  // how often that has changed
	frame    cdp.FrameID          // that is looked at; "": the page itself
}

// request is one that the window has sent.
type request struct {
	id   network.RequestID
	url  *url.URL
	kind network.ResourceType
}

// Visit opens a window for one more visitor, until the test ends.
func (c *Chromium) Visit(t *testing.T, as As) *Visitor {
	t.Helper()
	if as.Width == 0 {
		as.Width = 390
	}
	if as.Height == 0 {
		as.Height = 844
	}
	if as.Locale == "" {
		as.Locale = "en"
	}
	if as.Timezone == "" {
		as.Timezone = "Europe/Lisbon"
	}
	v := &Visitor{t: t, c: c, as: as, coming: map[cdp.FrameID]bool{}}
	ctx, cancel := chromedp.NewContext(c.ctx, chromedp.WithNewBrowserContext(), chromedp.WithListener(v.notice))
	ctx, expire := context.WithTimeout(ctx, 10*patience)
	t.Cleanup(func() { expire(); cancel() })
	v.ctx = ctx
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("a window: %v", err)
	}
	v.dress()
	return v
}

// dress gives the window the visitor's size, colours, language and time zone.
func (v *Visitor) dress() {
	v.t.Helper()
	scheme := "light"
	if v.as.Dark {
		scheme = "dark"
	}
	zoom := max(v.as.Zoom, 100)
	version, err := chromedp.Run(v.ctx, chromedp.Evaluate[string]("navigator.userAgent"))
	v.need(err)
	call(v, network.Enable, network.EnableParams{})
	call(v, log.Enable, cdp.Empty{})
	call(v, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: int64(v.as.Width * 100 / zoom), Height: int64(v.as.Height * 100 / zoom), DeviceScaleFactor: 1,
	})
	call(v, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	call(v, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{UserAgent: version, AcceptLanguage: v.as.Locale})
	call(v, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: v.as.Timezone})
	call(v, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	if v.as.Slow {
		call(v, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
			MatchedNetworkConditions: []*network.Conditions{{DownloadThroughput: slowLine, UploadThroughput: -1}},
		})
	}
	headers := network.Headers{}
	for name, value := range v.as.Headers {
		headers[name] = value
	}
	call(v, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: headers})
	call(v, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: v.as.NoScript})
}

// notice keeps what the window asks for and complains of, and which pages are under way.
func (v *Visitor) notice(event any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if at, err := url.Parse(e.Request.URL); err == nil {
			v.asked = append(v.asked, request{e.RequestID, at, e.Type})
		}
	case *page.EventFrameStartedLoading:
		v.turn(e.FrameID, true)
	case *page.EventFrameNavigated:
		v.turn(e.Frame.ID, false)
	case *page.EventFrameStoppedLoading:
		v.turn(e.FrameID, false)
	case *page.EventFrameDetached:
		v.turn(e.FrameID, false)
	case *log.EventEntryAdded:
		// A page that is not found is a page.
		if e.Entry.Level == log.EntryLevelError && e.Entry.Source != log.EntrySourceNetwork {
			v.problems = append(v.problems, fmt.Sprintf("the browser says of %s: %s", e.Entry.URL, e.Entry.Text))
		}
	case *runtime.EventExceptionThrown:
		v.problems = append(v.problems, "a script failed: "+(&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError {
			v.problems = append(v.problems, "a script complains")
		}
	}
}

// turn notes that another page is under way to a frame, or is not any more; v.mu is held.
func (v *Visitor) turn(frame cdp.FrameID, coming bool) {
	if v.turns++; coming {
		v.coming[frame] = true
	} else {
		delete(v.coming, frame)
	}
}

// stays asks something of a page that stays meanwhile: what is found on one page and done on the next is lost, or hits something else.
func (v *Visitor) stays(ask func() (bool, error)) (bool, error) {
	look := func() (int, bool) {
		v.mu.Lock()
		defer v.mu.Unlock()
		return v.turns, len(v.coming) == 0
	}
	before, still := look()
	if !still {
		return false, errTurns
	}
	there, err := ask()
	if after, _ := look(); there && after != before {
		return false, errTurns
	}
	return there, err
}

var errTurns = errors.New("another page is under way")

func (v *Visitor) need(err error) {
	v.t.Helper()
	if err != nil {
		v.t.Fatalf("in the browser: %v", err)
	}
}

// Go enters an address and waits for its page.
func (v *Visitor) Go(address string) {
	v.t.Helper()
	v.need(chromedp.Do(v.ctx, chromedp.Navigate(address)))
}

// Back goes back as the browser's button does; the page may come from the browser's memory, without being loaded.
func (v *Visitor) Back() {
	v.t.Helper()
	history := call(v, page.GetNavigationHistory, cdp.Empty{})
	if history.CurrentIndex == 0 {
		v.t.Fatal("there is no page to go back to")
	}
	before := history.Entries[history.CurrentIndex-1]
	call(v, page.NavigateToHistoryEntry, page.NavigateToHistoryEntryParams{EntryID: before.ID})
	v.until("the page before does not come back", func() (bool, error) {
		at, err := tryEval[string](v, "document.readyState === 'complete' ? location.href : ''")
		return at == before.URL, err
	})
}

// Address is that of the page.
func (v *Visitor) Address() string { return Eval[string](v, "location.href") }

// Screenshot is the whole page as a PNG.
func (v *Visitor) Screenshot() []byte {
	v.t.Helper()
	beyond := true
	shot := call(v, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng, CaptureBeyondViewport: &beyond})
	return shot.Data
}

// Keep writes a screenshot where SLOTMESH_TEST_SCREENSHOTS names a folder, to be looked at.
func (v *Visitor) Keep(name string) {
	v.t.Helper()
	folder := os.Getenv("SLOTMESH_TEST_SCREENSHOTS")
	if folder == "" {
		return
	}
	v.need(os.MkdirAll(folder, 0o755))
	v.need(os.WriteFile(filepath.Join(folder, name+".png"), v.Screenshot(), 0o644))
}

// Eval is what an expression gives in the page, or in the frame that is looked at. It sees the page's document but not what its scripts
// have made, runs also where the visitor has no JavaScript, and awaits a promise.
func Eval[T any](v *Visitor, expression string) T {
	v.t.Helper()
	var value T
	v.until("the page does not answer", func() (bool, error) {
		var err error
		value, err = tryEval[T](v, expression)
		if _, left := errors.AsType[*cdproto.Error](err); left { // the page has given way to the next one before it answered
			return false, err
		}
		v.need(err)
		return true, nil
	})
	return value
}

func tryEval[T any](v *Visitor, expression string) (T, error) {
	var value T
	yes := true
	asked := runtime.EvaluateParams{Expression: expression, ReturnByValue: &yes, AwaitPromise: &yes}
	if v.frame != "" {
		world, err := chromedp.Call(v.ctx, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: v.frame, WorldName: "visitor"})
		if err != nil {
			return value, err
		}
		asked.ContextID = world.ExecutionContextID
	}
	answer, err := chromedp.Call(v.ctx, runtime.Evaluate, asked)
	if err != nil {
		return value, err
	}
	if answer.ExceptionDetails != nil {
		return value, &chromedp.ExceptionError{ExceptionDetails: answer.ExceptionDetails}
	}
	if len(answer.Result.Value) == 0 {
		return value, nil
	}
	return value, json.Unmarshal(answer.Result.Value, &value)
}
