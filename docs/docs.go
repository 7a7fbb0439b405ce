// Package docs serves the books in this folder at /docs: each page as HTML and, with the suffix .md, as Markdown. The
// program contains the pages, so that every installation has the documentation of its own version.
package docs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/openapi"
)

//go:generate go run github.com/a-h/templ/cmd/templ@v0.3.977 generate -log-level error

var (
	//go:embed books.json api businesses developers operators spec
	files embed.FS
	//go:embed style.css
	style string
)

// root is the path below which the pages are.
const root = "/docs"

// book is a part of the documentation. The names of its pages are paths in its folder, without .md.
type book struct {
	Title, Folder string
	Pages         []string
}

// page is one page. A page of the API's errors is in no list of a book.
type page struct {
	Path, Title string // URL path, and the first heading
	book        int    // index in site.books
	source      string // Markdown
	html        func() (*openapi.File, error)
	markdown    *openapi.File
}

type site struct {
	books   []book
	pages   map[string]*page // by the path below root, such as operators/install; operators/ is the index of a book
	ordered []*page          // the listed pages, in the order of the books
}

// load reads the books once per process, because tests start many services in one process.
var load = sync.OnceValues(func() (*site, error) {
	s := &site{pages: map[string]*page{}}
	list, err := files.ReadFile("books.json")
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(list, &s.books); err != nil {
		return nil, fmt.Errorf("books.json: %w", err)
	}
	for i, b := range s.books {
		for _, name := range append([]string{indexOf(b.Folder)}, b.Pages...) {
			p, err := s.add(i, b.Folder+"/"+name+".md")
			if err != nil {
				return nil, err
			}
			s.ordered = append(s.ordered, p)
		}
	}
	unlisted, err := files.ReadDir("api/errors")
	if err != nil {
		return nil, err
	}
	for _, entry := range unlisted {
		if file := "api/errors/" + entry.Name(); s.pages[pathOf(file)] == nil {
			if _, err := s.add(s.pages["api/"].book, file); err != nil {
				return nil, err
			}
		}
	}
	return s, nil
})

// indexOf returns the name of the index of a book.
func indexOf(folder string) string {
	if folder == "spec" {
		return "README"
	}
	return "index"
}

// pathOf returns the path below root of the page in a file. An index has the path of its folder, with a slash.
func pathOf(file string) string {
	switch path.Base(file) {
	case "index.md", "README.md":
		return path.Dir(file) + "/"
	}
	return strings.TrimSuffix(file, ".md")
}

func (s *site) add(book int, file string) (*page, error) {
	source, err := files.ReadFile(file)
	if err != nil {
		return nil, err
	}
	p := &page{Path: root + "/" + pathOf(file), book: book, source: string(source),
		markdown: openapi.NewFile(source, "text/markdown; charset=utf-8", securityHeaders)}
	for line := range strings.Lines(p.source) {
		if title, isHeading := strings.CutPrefix(line, "# "); isHeading {
			p.Title = strings.TrimSpace(strings.ReplaceAll(title, "`", ""))
			break
		}
	}
	if p.Title == "" {
		return nil, fmt.Errorf("%s has no heading", file)
	}
	p.html = sync.OnceValues(func() (*openapi.File, error) {
		content, err := render(path.Dir(file), source)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		return renderFile(s.frame(p.Title, p, templ.Raw(content)))
	})
	s.pages[pathOf(file)] = p
	return p, nil
}

// markdownPath returns the URL path of the page as Markdown.
func (p *page) markdownPath() string {
	if strings.HasSuffix(p.Path, "/") {
		return p.Path + "index.md"
	}
	return p.Path + ".md"
}

// securityHeaders permit the style sheet of the pages, and no scripts.
var securityHeaders = func() map[string]string {
	sum := sha256.Sum256([]byte(style))
	return map[string]string{
		"Content-Security-Policy": "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
			"'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
		"X-Content-Type-Options": "nosniff",
		"Referrer-Policy":        "no-referrer",
	}
}()

func renderFile(content templ.Component) (*openapi.File, error) {
	var html bytes.Buffer
	if err := content.Render(context.Background(), &html); err != nil {
		return nil, err
	}
	return openapi.NewFile(html.Bytes(), fiber.MIMETextHTMLCharsetUTF8, securityHeaders), nil
}

// Mount adds the routes of the documentation: /docs, the pages below it, and /llms.txt, which lists the pages as
// Markdown for programs.
func Mount(router fiber.Router) error {
	s, err := load()
	if err != nil {
		return fmt.Errorf("the documentation: %w", err)
	}
	home, err := renderFile(s.frame("Documentation", nil, s.home()))
	if err != nil {
		return err
	}
	router.Get("/llms.txt", openapi.NewFile([]byte(s.list()), fiber.MIMETextPlainCharsetUTF8, securityHeaders).Serve)
	router.Get(root, func(c *fiber.Ctx) error {
		if query := c.Query("q"); query != "" {
			return s.serveResults(c, query)
		}
		return home.Serve(c)
	})
	router.Get(root+"/*", func(c *fiber.Ctx) error {
		name := strings.TrimPrefix(c.Path(), root+"/")
		if p, isPage := s.pages[name]; isPage {
			file, err := p.html()
			if err != nil {
				return err
			}
			return file.Serve(c)
		}
		if p, isPage := s.pages[pathOf(name)]; isPage && strings.HasSuffix(name, ".md") {
			return p.markdown.Serve(c)
		}
		if s.pages[name+"/"] != nil {
			return c.Redirect(root+"/"+name+"/", fiber.StatusMovedPermanently)
		}
		return fiber.ErrNotFound
	})
	return nil
}

// list returns the content of llms.txt.
func (s *site) list() string {
	var out strings.Builder
	out.WriteString("# Slotmesh\n\n> A booking platform for many businesses: appointments, classes, events and rentals.\n")
	last := -1
	for _, p := range s.ordered {
		if p.book != last {
			last = p.book
			fmt.Fprintf(&out, "\n## %s\n\n", s.books[p.book].Title)
		}
		fmt.Fprintf(&out, "- [%s](%s)\n", p.Title, p.markdownPath())
	}
	return out.String()
}

// Limits of the search.
const (
	maxQuery   = 100 // characters
	maxResults = 20
)

// result is a page that contains all words of a query, with the first line that contains one of them.
type result struct {
	*page
	Line string
}

func (s *site) serveResults(c *fiber.Ctx, query string) error {
	if utf8.RuneCountInString(query) > maxQuery {
		return fiber.NewError(fiber.StatusBadRequest, fmt.Sprintf("q has at most %d characters.", maxQuery))
	}
	file, err := renderFile(s.frame("Search", nil, showResults(query, s.search(query))))
	if err != nil {
		return err
	}
	return file.Serve(c)
}

// search returns the pages that contain all words of the query. Pages with one of them in the title come first.
func (s *site) search(query string) []result {
	words := strings.Fields(strings.ToLower(query))
	var inTitle, others []result
	for _, p := range s.ordered {
		text := strings.ToLower(p.source)
		hasAll, hasTitle := len(words) > 0, false
		for _, word := range words {
			hasAll = hasAll && strings.Contains(text, word)
			hasTitle = hasTitle || strings.Contains(strings.ToLower(p.Title), word)
		}
		switch {
		case hasAll && hasTitle:
			inTitle = append(inTitle, result{p, findLine(p.source, words)})
		case hasAll:
			others = append(others, result{p, findLine(p.source, words)})
		}
	}
	all := append(inTitle, others...)
	return all[:min(len(all), maxResults)]
}

// marks are the marks of links, code and emphasis in Markdown.
var marks = regexp.MustCompile("\\]\\([^)]*\\)|[`*\\[]")

// findLine returns the first line of the text, after its heading, that contains one of the words.
func findLine(text string, words []string) string {
	for line := range strings.Lines(text) {
		for _, word := range words {
			if !strings.HasPrefix(line, "# ") && strings.Contains(strings.ToLower(line), word) {
				return strings.Trim(marks.ReplaceAllString(line, ""), "#|*- \n")
			}
		}
	}
	return ""
}
