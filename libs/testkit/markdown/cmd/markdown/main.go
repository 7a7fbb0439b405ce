// Command markdown checks all documents that git tracks: each link leads to a file and a heading that exist. In the
// books below docs, it also checks the length of sentences. It prints one line for each problem, and then exits with
// status 1.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"strings"

	"github.com/slotmesh/slotmesh/libs/testkit/markdown"
)

// books are the folders whose sentences are checked.
var books = []string{"docs/businesses/", "docs/operators/", "docs/api/", "docs/developers/"}

func main() {
	found, err := check()
	for _, line := range found {
		fmt.Println(line)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "markdown:", err)
	}
	if err != nil || len(found) > 0 {
		os.Exit(1)
	}
}

func check() ([]string, error) {
	out, err := exec.Command("git", "ls-files", "--cached", "--others", "--exclude-standard").Output()
	if err != nil {
		return nil, fmt.Errorf("git ls-files: %w", err)
	}
	tracked := map[string]bool{".": true}
	for name := range strings.Lines(string(out)) {
		for name = strings.TrimSpace(name); name != "."; name = path.Dir(name) {
			tracked[name] = true
		}
	}
	read := func(name string) (string, bool) {
		text, err := os.ReadFile(name)
		if err != nil {
			return "", tracked[name] && err != nil && !os.IsNotExist(err) // a folder
		}
		return string(text), tracked[name]
	}
	var found []string
	for name := range tracked {
		if !strings.HasSuffix(name, ".md") || strings.Contains(name, "/testdata/") {
			continue
		}
		text, exists := read(name)
		if !exists {
			continue // removed, and not committed yet
		}
		problems := markdown.Links(name, text, read)
		for _, book := range books {
			if strings.HasPrefix(name, book) {
				problems = append(problems, markdown.Sentences(text)...)
			}
		}
		for _, p := range problems {
			found = append(found, fmt.Sprintf("%s:%d: %s", name, p.Line, p.Text))
		}
	}
	return found, nil
}
