package visitor

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// The maximum sizes of the scripts and the CSS of a page, in bytes after gzip (pages.md).
const (
	maxScript = 25 << 10
	maxCSS    = 15 << 10
)

// Check fails the test if the current page violates one of the rules for all pages:
//
//   - axe-core finds no accessibility problem;
//   - the page sends no request to another host, and no script fails or violates the Content-Security-Policy;
//   - the scripts and the CSS do not exceed their maximum sizes;
//   - the layout does not shift, and the page needs no horizontal scrolling.
//
// Check considers all requests and log entries since the visitor's window was opened. If the page navigates during the
// check, Check checks the next page instead.
func (v *Visitor) Check() {
	v.t.Helper()
	var found []string
	v.await("a page does not stay to be looked at", func() (bool, error) {
		page, err := tryEval[float64](v, pageIdentity)
		if err != nil || page == 0 {
			return false, err
		}
		if found, err = v.findPageProblems(); err != nil {
			return false, err
		}
		now, err := tryEval[float64](v, pageIdentity)
		return now == page, err
	})
	for _, check := range []func() []string{v.findForeignRequests, v.listComplaints, v.findOverweight} {
		found = append(found, check()...)
	}
	for _, problem := range found {
		v.t.Errorf("%s: %s", v.Address(), problem)
	}
}

// pageIdentity is a script that identifies the current page by its start time. Until the page is loaded, it returns 0.
const pageIdentity = loadedCondition + ` ? performance.timeOrigin : 0`

// findPageProblems returns the problems that the checks inside the page find.
func (v *Visitor) findPageProblems() ([]string, error) {
	var found []string
	for _, check := range []func() ([]string, error){v.findBarriers, v.findShifts, v.findSidewaysOverflow} {
		problems, err := check()
		if err != nil {
			return nil, err
		}
		found = append(found, problems...)
	}
	return found, nil
}

// findBarriers returns the accessibility problems that axe-core finds. For visitors with NoScript, Slow or NoRules, it
// returns none, because tests with other visitors check the same page.
func (v *Visitor) findBarriers() ([]string, error) {
	if v.profile.NoScript || v.profile.Slow || v.profile.NoRules {
		return nil, nil
	}
	return tryEval[[]string](v, v.c.axe+`;axe.run(document, {resultTypes: ["violations"]}).then(r =>
		r.violations.map(f => f.id + ": " + f.help + ": " + f.nodes.map(n => n.html.slice(0, 200) + " " + n.failureSummary).join(" | ")))`)
}

// findForeignRequests describes the requests that the visitor's window has sent to other hosts.
func (v *Visitor) findForeignRequests() []string {
	v.t.Helper()
	own, err := url.Parse(v.Address())
	v.failOnError(err)
	v.mu.Lock()
	defer v.mu.Unlock()
	var found []string
	for _, r := range v.requests {
		if r.url.Host != own.Host && r.url.Scheme != "data" && r.url.Scheme != "blob" && r.url.Scheme != "about" {
			found = append(found, "another host was asked for "+r.url.Redacted())
		}
	}
	return found
}

// ExpectComplaint waits until the browser has logged an error whose text contains the argument `words`. An example is a
// violation of the Content-Security-Policy.
func (v *Visitor) ExpectComplaint(words string) {
	v.t.Helper()
	v.await("the browser does not complain of "+words, func() (bool, error) {
		return slices.ContainsFunc(v.listComplaints(), func(c string) bool { return strings.Contains(c, words) }), nil
	})
}

func (v *Visitor) listComplaints() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.problems)
}

// MeasureWeight returns the total size of the scripts and the total size of the CSS that the visitor's window has
// loaded, in bytes after gzip. MeasureWeight counts each URL once.
func (v *Visitor) MeasureWeight() (int, int) {
	v.t.Helper()
	v.mu.Lock()
	requests := slices.Clone(v.requests)
	v.mu.Unlock()
	script, css := 0, 0
	seen := make(map[string]bool)
	for _, r := range requests {
		if kind := r.kind; kind != network.ResourceTypeScript && kind != network.ResourceTypeStylesheet ||
			seen[r.url.String()] {
			continue
		}
		got, err := chromedp.Call(v.ctx, network.GetResponseBody, network.GetResponseBodyParams{RequestID: r.id})
		if err != nil {
			continue // the visitor left the page before the response arrived
		}
		seen[r.url.String()] = true
		if r.kind == network.ResourceTypeScript {
			script += computeZippedSize(got.Body)
		} else {
			css += computeZippedSize(got.Body)
		}
	}
	return script, css
}

func computeZippedSize(body []byte) int {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, _ = w.Write(body) // cannot fail, because it writes to memory
	_ = w.Close()
	return out.Len()
}

func (v *Visitor) findOverweight() []string {
	v.t.Helper()
	script, css := v.MeasureWeight()
	var found []string
	if script > maxScript && !v.profile.Heavy {
		found = append(found, fmt.Sprintf("%d bytes of script, more than %d", script, maxScript))
	}
	if css > maxCSS {
		found = append(found, fmt.Sprintf("%d bytes of CSS, more than %d", css, maxCSS))
	}
	return found
}

// findShifts returns the layout shifts that happened without user input, with their positions. If their sum (the
// Cumulative Layout Shift) does not exceed the visitor's limit, it returns none. It ignores shifts of white space
// between words, which Chromium reports although people cannot see them.
func (v *Visitor) findShifts() ([]string, error) {
	return v.findMoves(`!s.sources.length || s.sources.some(e => !e.node || e.node.nodeType !== Node.TEXT_NODE || e.node.data.trim())`)
}

// findMoves returns the layout shifts that match the given condition. If their sum does not exceed the visitor's limit,
// it returns none. The argument `condition` is a JavaScript expression about the performance entry `s`.
func (v *Visitor) findMoves(condition string) ([]string, error) {
	return tryEval[[]string](v, fmt.Sprintf(`(() => {
		const o = new PerformanceObserver(() => {});
		o.observe({type: "layout-shift", buffered: true});
		const moved = o.takeRecords().filter(s => !s.hadRecentInput && s.value > 0 && (%s));
		const rect = r => [r.x, r.y, r.width, r.height].join(" ");
		return moved.reduce((sum, s) => sum + s.value, 0) <= %g ? [] : moved.map(s => "shifted by " + s.value + ": " +
			s.sources.map(e => (e.node?.outerHTML ?? e.node?.textContent)?.slice(0, 120) + " from " + rect(e.previousRect) + " to " + rect(e.currentRect)).join(", "));
	})()`, condition, v.profile.MayShift))
}

func (v *Visitor) findSidewaysOverflow() ([]string, error) {
	wide, err := tryEval[int](v, "document.documentElement.scrollWidth - document.documentElement.clientWidth")
	if err != nil || wide <= 0 {
		return nil, err
	}
	who, err := tryEval[[]string](v, `[...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > innerWidth + 1 || e.getBoundingClientRect().left < -1)
		.slice(0, 3).map(e => e.outerHTML.slice(0, 120))`)
	return []string{fmt.Sprintf("it is %d px wider than the window: %s", wide, strings.Join(who, ", "))}, err
}

// ListRequests returns the URLs of all requests that the visitor's window has sent, in order.
func (v *Visitor) ListRequests() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var all []string
	for _, r := range v.requests {
		all = append(all, r.url.String())
	}
	return all
}
