// Package visitor simulates people with a browser, for end-to-end tests of pages. The package starts Chromium once. A
// test can have several visitors; each visitor has a window and an empty browser profile. A visitor finds elements by
// their visible names and clicks with the pointer. [Visitor.Check] checks the rules that apply to all pages.
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

// axePackage is the npm package of axe-core, which checks the accessibility of pages.
const axePackage = "axe-core@4.14.1"

// maxWait limits each wait of a visitor. It is long enough for a busy machine.
const maxWait = 90 * time.Second

// Chromium is a running browser.
type Chromium struct {
	ctx   context.Context
	close func() error
	axe   string // source of axe-core
}

// shared contains the browser that all tests of this process use, because its start takes longer than many tests. The
// browser is nil until a test calls [Open].
var shared struct {
	sync.Mutex
	chromium *Chromium
}

// Open returns the browser that all tests of this process share. The first call starts the browser, and [Close] ends
// it. If this machine has no Chromium, or axe-core cannot be installed, the test is skipped; in CI the test fails (see
// [testkit.SkipOrFail]). The name of the test must end with InABrowser, so that `go test -skip InABrowser` skips the
// test.
func Open(t *testing.T) *Chromium {
	t.Helper()
	if test, _, _ := strings.Cut(t.Name(), "/"); !strings.HasSuffix(test, "InABrowser") {
		t.Fatalf("%s opens a browser: let its name end with InABrowser, so that -skip InABrowser leaves it out", test)
	}
	shared.Lock()
	defer shared.Unlock()
	if shared.chromium == nil {
		shared.chromium = start(t)
	}
	return shared.chromium
}

// Close ends the browser if a test has started it. TestMain calls Close after all tests.
func Close() error {
	shared.Lock()
	defer shared.Unlock()
	if shared.chromium == nil {
		return nil
	}
	err := shared.chromium.close()
	shared.chromium = nil
	return err
}

func start(t *testing.T) *Chromium {
	t.Helper()
	testkit.NeedChromium(t, "pages are tested over HTTP alone")
	axe := testkit.InstallNode(t, axePackage).File(t, "axe-core/axe.min.js")
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		// The folder of the profile is created and removed by chromedp, not by the test. Parts of the browser write to
		// the profile even after the browser's end. If the profile were in the test's temporary folder, the removal of
		// that folder would fail.
		chromedp.NoSandbox, chromedp.DisableGPU,
		// Without site isolation, a page and its embedded pages run in one process, so that a visitor can access both.
		// The flag also disables hidden parts of the browser's own interface. These parts would start another process
		// for each page and take about a quarter of the test's time.
		chromedp.Flag("disable-features",
			"Translate,IsolateOrigins,site-per-process,WebUIOmniboxPopup,WebUIOmniboxAimPopup"),
		chromedp.Flag("disable-site-isolation-trials", true))
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, closeAll := chromedp.NewContext(ctx, chromedp.WithErrorf(func(string, ...any) {}))
	end := func() error {
		err := chromedp.Cancel(ctx)
		closeAll()
		cancel()
		if err != nil {
			return fmt.Errorf("close Chromium: %w", err)
		}
		return nil
	}
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("Chromium did not start: %v", errors.Join(err, end()))
	}
	return &Chromium{ctx, end, string(axe)}
}

// Profile describes a visitor and the visitor's browser. The zero value is a phone in English, in the light color
// scheme, with JavaScript and the time zone of Lisbon.
type Profile struct {
	Width    int // in CSS pixels; 0 means 390, the width of a phone
	Height   int // in CSS pixels; 0 means 844
	Dark     bool
	Locale   string // language of the browser, such as ar or ja-JP; "": en
	Timezone string // time zone of the browser; "": Europe/Lisbon
	NoScript bool
	Slow     bool              // a slow connection, which reveals layout shifts, because pages are painted in pieces
	MayShift float64           // maximum Cumulative Layout Shift; 0 for booking pages
	Headers  map[string]string // headers of every request
	Heavy    bool              // a page for developers, whose scripts have no size limit
	NoRules  bool              // skips axe-core, because another visitor runs it with this width and color scheme
	Zoom     int               // in percent; 0 means 100. As in a browser, a larger zoom makes the window smaller.
}

// slowLine is the speed of a slow connection, in bytes per second. Some pages need a second and a half to load over
// such a connection.
const slowLine = 8000

// Visitor is a person with one browser window. If a method cannot perform its action, the method ends the test.
type Visitor struct {
	t       *testing.T
	c       *Chromium
	ctx     context.Context
	profile Profile

	mu          sync.Mutex
	requests    []request
	problems    []string
	navigating  map[cdp.FrameID]bool // frames with a running navigation
	navigations int                  // number of starts and ends of navigations
	frame       cdp.FrameID          // current frame; "" for the page itself
}

// request is a request that the visitor's browser window has sent.
type request struct {
	id   network.RequestID
	url  *url.URL
	kind network.ResourceType
}

// Visit opens a window for a new visitor. The window is closed at the end of the test.
func (c *Chromium) Visit(t *testing.T, profile Profile) *Visitor {
	t.Helper()
	if profile.Width == 0 {
		profile.Width = 390
	}
	if profile.Height == 0 {
		profile.Height = 844
	}
	if profile.Locale == "" {
		profile.Locale = "en"
	}
	if profile.Timezone == "" {
		profile.Timezone = "Europe/Lisbon"
	}
	v := &Visitor{t: t, c: c, profile: profile, navigating: map[cdp.FrameID]bool{}}
	ctx, cancel := chromedp.NewContext(c.ctx, chromedp.WithNewBrowserContext(), chromedp.WithListener(v.handleEvent))
	ctx, expire := context.WithTimeout(ctx, 10*maxWait)
	t.Cleanup(func() { expire(); cancel() })
	v.ctx = ctx
	if err := chromedp.Do(ctx); err != nil {
		t.Fatalf("a window: %v", err)
	}
	v.configure()
	return v
}

// configure sets the properties of the visitor's window that [Profile] describes, such as the size and the language.
func (v *Visitor) configure() {
	v.t.Helper()
	scheme := "light"
	if v.profile.Dark {
		scheme = "dark"
	}
	zoom := max(v.profile.Zoom, 100)
	version, err := chromedp.Run(v.ctx, chromedp.Evaluate[string]("navigator.userAgent"))
	v.failOnError(err)
	call(v, network.Enable, network.EnableParams{})
	call(v, log.Enable, cdp.Empty{})
	call(v, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{
		Width: int64(v.profile.Width * 100 / zoom), Height: int64(v.profile.Height * 100 / zoom), DeviceScaleFactor: 1,
	})
	call(v, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme},
			{Name: "prefers-reduced-motion", Value: "reduce"}},
	})
	call(v, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{UserAgent: version,
		AcceptLanguage: v.profile.Locale})
	call(v, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: v.profile.Timezone})
	call(v, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: true})
	if v.profile.Slow {
		call(v, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
			MatchedNetworkConditions: []*network.Conditions{{DownloadThroughput: slowLine, UploadThroughput: -1}},
		})
	}
	headers := network.Headers{}
	for name, value := range v.profile.Headers {
		headers[name] = value
	}
	call(v, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: headers})
	call(v, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: v.profile.NoScript})
}

// handleEvent handles an event of the browser. It records the requests, errors and navigations of the visitor's window.
func (v *Visitor) handleEvent(event any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		if at, err := url.Parse(e.Request.URL); err == nil {
			v.requests = append(v.requests, request{e.RequestID, at, e.Type})
		}
	case *page.EventFrameStartedLoading:
		v.recordNavigation(e.FrameID, true)
	case *page.EventFrameNavigated:
		v.recordNavigation(e.Frame.ID, false)
	case *page.EventFrameStoppedLoading:
		v.recordNavigation(e.FrameID, false)
	case *page.EventFrameDetached:
		v.recordNavigation(e.FrameID, false)
	case *log.EventEntryAdded:
		// An error status in a response, such as 404, is not a problem by itself.
		if e.Entry.Level == log.EntryLevelError && e.Entry.Source != log.EntrySourceNetwork {
			v.problems = append(v.problems, fmt.Sprintf("the browser says of %s: %s", e.Entry.URL, e.Entry.Text))
		}
	case *runtime.EventExceptionThrown:
		v.problems = append(v.problems,
			"a script failed: "+(&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error())
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError {
			v.problems = append(v.problems, "a script complains")
		}
	}
}

// recordNavigation records the start of a frame's navigation, or its end if the argument `coming` is false. The caller
// must hold v.mu.
func (v *Visitor) recordNavigation(frame cdp.FrameID, coming bool) {
	if v.navigations++; coming {
		v.navigating[frame] = true
	} else {
		delete(v.navigating, frame)
	}
}

// awaitStable calls the function `ask` and returns its result. If a navigation is running or starts during the call,
// awaitStable returns errNavigation instead of true. An action during a navigation could miss its target or hit an
// element of the next page.
func (v *Visitor) awaitStable(ask func() (bool, error)) (bool, error) {
	look := func() (int, bool) {
		v.mu.Lock()
		defer v.mu.Unlock()
		return v.navigations, len(v.navigating) == 0
	}
	before, still := look()
	if !still {
		return false, errNavigation
	}
	exists, err := ask()
	if after, _ := look(); exists && after != before {
		return false, errNavigation
	}
	return exists, err
}

var errNavigation = errors.New("the browser is already loading another page")

func (v *Visitor) failOnError(err error) {
	v.t.Helper()
	if err != nil {
		v.t.Fatalf("in the browser: %v", err)
	}
}

// Go opens a URL and waits until the page is loaded.
func (v *Visitor) Go(address string) {
	v.t.Helper()
	v.failOnError(chromedp.Do(v.ctx, chromedp.Navigate(address)))
}

// Back presses the browser's back button. The browser may restore the previous page from memory without loading it.
func (v *Visitor) Back() {
	v.t.Helper()
	history := call(v, page.GetNavigationHistory, cdp.Empty{})
	if history.CurrentIndex == 0 {
		v.t.Fatal("there is no page to go back to")
	}
	before := history.Entries[history.CurrentIndex-1]
	call(v, page.NavigateToHistoryEntry, page.NavigateToHistoryEntryParams{EntryID: before.ID})
	v.await("the page before does not come back", func() (bool, error) {
		at, err := tryEval[string](v, "document.readyState === 'complete' ? location.href : ''")
		return at == before.URL, err
	})
}

// Address returns the URL of the page.
func (v *Visitor) Address() string { return Eval[string](v, "location.href") }

// Screenshot returns a picture of the whole page as a PNG.
func (v *Visitor) Screenshot() []byte {
	v.t.Helper()
	beyond := true
	shot := call(v, page.CaptureScreenshot, page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng,
		CaptureBeyondViewport: &beyond})
	return shot.Data
}

// SaveScreenshot writes a screenshot to the folder in the environment variable SLOTMESH_TEST_SCREENSHOTS. If the
// variable is not set, SaveScreenshot does nothing.
func (v *Visitor) SaveScreenshot(name string) {
	v.t.Helper()
	folder := os.Getenv("SLOTMESH_TEST_SCREENSHOTS")
	if folder == "" {
		return
	}
	v.failOnError(os.MkdirAll(folder, 0o755))
	v.failOnError(os.WriteFile(filepath.Join(folder, name+".png"), v.Screenshot(), 0o644))
}

// Eval returns the value of the given JavaScript expression in the page or in the current frame. The expression can use
// the page's document, but not the objects that the page's scripts have created. Eval also works if the visitor has no
// JavaScript. If the value is a promise, Eval waits for it.
func Eval[T any](v *Visitor, expression string) T {
	v.t.Helper()
	var value T
	v.await("the page does not answer", func() (bool, error) {
		var err error
		value, err = tryEval[T](v, expression)
		// the page navigated before the script returned
		if _, isRemaining := errors.AsType[*cdproto.Error](err); isRemaining {
			return false, err
		}
		v.failOnError(err)
		return true, nil
	})
	return value
}

func tryEval[T any](v *Visitor, expression string) (T, error) {
	var value T
	yes := true
	evaluateParams := runtime.EvaluateParams{Expression: expression, ReturnByValue: &yes, AwaitPromise: &yes}
	if v.frame != "" {
		world, err := chromedp.Call(v.ctx, page.CreateIsolatedWorld, page.CreateIsolatedWorldParams{FrameID: v.frame,
			WorldName: "visitor"})
		if err != nil {
			return value, err
		}
		evaluateParams.ContextID = world.ExecutionContextID
	}
	answer, err := chromedp.Call(v.ctx, runtime.Evaluate, evaluateParams)
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
