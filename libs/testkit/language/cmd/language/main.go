// Command language checks the comments of all Go files that git tracks, and the subjects of the commits
// since a given commit. It prints one line per problem. If there is a problem, it exits with status 1.
//
//	language -since COMMIT
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"github.com/slotmesh/slotmesh/libs/testkit/language"
)

func main() {
	since := flag.String(
		"since",
		"",
		"check the subjects of the commits after this one; a clone without it checks none",
	)
	flag.Parse()
	found, err := check(*since)
	for _, line := range found {
		fmt.Println(line)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "language:", err)
	}
	if err != nil || len(found) > 0 {
		os.Exit(1)
	}
}

func check(since string) ([]string, error) {
	files, err := lines("ls-files", "*.go")
	if err != nil {
		return nil, err
	}
	var found []string
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		problems, err := language.Comments(path, source)
		if err != nil {
			return nil, err
		}
		for _, p := range problems {
			found = append(found, fmt.Sprintf("%s:%d: %s", path, p.Line, p.Text))
		}
	}
	if since == "" {
		return found, nil
	}
	if _, err := lines("cat-file", "-e", since+"^{commit}"); err != nil {
		return found, nil // the clone is shallow and does not contain the commit
	}
	commits, err := lines("log", "--no-merges", "--format=%h %s", since+"..HEAD")
	for _, commit := range commits {
		hash, subject, _ := strings.Cut(commit, " ")
		if problem := language.Subject(subject); problem != "" {
			found = append(found, fmt.Sprintf("commit %s: %s: %s", hash, subject, problem))
		}
	}
	return found, err
}

// lines runs git and returns the non-empty lines of the output.
func lines(args ...string) ([]string, error) {
	out, err := exec.Command("git", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == '\n' }), nil
}
