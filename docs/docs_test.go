package docs

import (
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/gofiber/fiber/v2"
)

// get sends GET for the path and returns the answer with its body.
func get(t *testing.T, path string) (*http.Response, string) {
	t.Helper()
	app := fiber.New()
	if err := Mount(app); err != nil {
		t.Fatal(err)
	}
	answer, err := app.Test(httptest.NewRequest("GET", path, nil), -1)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(body)
}

// TestLinksLeadToPages follows the links of all pages to pages and headings.
func TestLinksLeadToPages(t *testing.T) {
	t.Parallel()
	s, err := load()
	if err != nil {
		t.Fatal(err)
	}
	html := map[string]string{root: ""}
	for _, p := range s.pages {
		answer, body := get(t, p.Path)
		if answer.StatusCode != fiber.StatusOK || !strings.Contains(body, "<h1") ||
			!strings.Contains(body, `aria-current="page"`) && !strings.HasPrefix(p.Path, root+"/api/errors/") {
			t.Errorf("%s answers %d", p.Path, answer.StatusCode)
		}
		html[p.Path] = body
	}
	links := regexp.MustCompile(`href="(` + root + `[^"#]*)(#[^"]*)?"`)
	for from, body := range html {
		for _, link := range links.FindAllStringSubmatch(body, -1) {
			target, anchor := link[1], strings.TrimPrefix(link[2], "#")
			if _, isMarkdown := strings.CutSuffix(target, ".md"); isMarkdown {
				if answer, _ := get(t, target); answer.StatusCode != fiber.StatusOK {
					t.Errorf("%s links to %s, which answers %d", from, target, answer.StatusCode)
				}
				continue
			}
			if to, exists := html[target]; !exists || anchor != "" && !strings.Contains(to, `id="`+anchor+`"`) {
				t.Errorf("%s links to %s#%s, which does not exist", from, target, anchor)
			}
		}
	}
}

// TestBooksHaveEachPage shows that books.json lists every file, except the pages of single errors.
func TestBooksHaveEachPage(t *testing.T) {
	t.Parallel()
	s, err := load()
	if err != nil {
		t.Fatal(err)
	}
	err = fs.WalkDir(files, ".", func(file string, entry fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(file, ".md") && s.pages[pathOf(file)] == nil {
			t.Errorf("books.json lacks %s", file)
		}
		return err
	})
	if err != nil || len(s.ordered) < 50 {
		t.Errorf("%d pages, %v", len(s.ordered), err)
	}
}

func TestPagesAreServedInBothForms(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]struct {
		status          int
		mediaType, text string
	}{
		"/docs":                                      {200, "text/html; charset=utf-8", `href="/docs/operators/install"`},
		"/docs/operators/":                           {200, "text/html; charset=utf-8", `href="/docs/operators/first-day"`},
		"/docs/operators":                            {301, "", ""},
		"/docs/operators/install":                    {200, "text/html; charset=utf-8", "<table>"},
		"/docs/operators/install.md":                 {200, "text/markdown; charset=utf-8", "\n| "},
		"/docs/spec/README.md":                       {200, "text/markdown; charset=utf-8", "# The specification"},
		"/docs/api/errors/closed":                    {200, "text/html; charset=utf-8", "What to do:"},
		"/docs/nothing":                              {404, "text/plain; charset=utf-8", ""},
		"/docs/nothing.md":                           {404, "text/plain; charset=utf-8", ""},
		"/docs/operators/install/":                   {404, "text/plain; charset=utf-8", ""},
		"/docs/books.json":                           {404, "text/plain; charset=utf-8", ""},
		"/llms.txt":                                  {200, "text/plain; charset=utf-8", "](/docs/api/mcp.md)\n"},
		"/docs?q=stripe+WEBHOOK":                     {200, "text/html; charset=utf-8", `href="/docs/operators/stripe"`},
		"/docs?q=qqqqqq":                             {200, "text/html; charset=utf-8", "No page contains"},
		"/docs?q=%3Cscript%3E":                       {200, "text/html; charset=utf-8", "&lt;script&gt;"},
		"/docs?q=" + strings.Repeat("q", maxQuery+1): {400, "text/plain; charset=utf-8", "at most 100"},
	} {
		answer, body := get(t, path)
		if answer.StatusCode != want.status || answer.Header.Get("Content-Type") != want.mediaType ||
			!strings.Contains(body, want.text) {
			t.Errorf("%s: %d %v\n%.300s", path, answer.StatusCode, answer.Header, body)
		}
		if want.status == 200 && !strings.HasPrefix(answer.Header.Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s has the policy %q", path, answer.Header.Get("Content-Security-Policy"))
		}
	}
}

func TestRenderKeepsPlaceholdersAndLinks(t *testing.T) {
	t.Parallel()
	got, err := render("operators", []byte("# A *B*, c!\n\nSend <API_KEY> to [a](backup.md#x), [b](../api/index.md), "+
		"[c](../../k8s/README.md#y) and [d](https://example.com).\n\n```sh\necho '<a>'\n```\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`<h1 id="a-b-c">`, "&lt;API_KEY&gt;", `href="/docs/operators/backup#x"`,
		`href="/docs/api/"`, `href="` + repository + `k8s/README.md#y"`, `href="https://example.com"`,
		`<pre tabindex="0"><code>echo &#39;&lt;a&gt;&#39;`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is missing in\n%s", want, got)
		}
	}
}
