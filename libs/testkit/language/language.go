// Package language checks that comments and commit subjects are in plain technical English, as far as
// a program can decide this. It checks the comments of Go files, except tests and generated files.
package language

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
)

// maxWords is the maximal number of words in a sentence of a comment.
const maxWords = 30

// maxSubject is the maximal number of characters in the subject of a commit.
const maxSubject = 72

// banned are phrases that readers had to read twice. Beside each phrase is a better phrase.
var banned = []struct {
	phrase *regexp.Regexp
	use    string
}{
	{phrase(`says? so`), "reports it"},
	{phrase(`(says?|tells?|told) (that|of|whether|what|which|who|how|when|where|why)`), "reports, returns or names"},
	{phrase(`nobody|whoever|somebody else`), "no caller, no customer, another person"},
	{phrase(`anew`), "again"},
	{phrase(`meanwhile`), "in the meantime"},
	{phrase(`(of )?what is no`), "invalid"},
	{phrase(`where (there (is|are)|nothing|none|both|this is|that is|it is|they are)`), "if or when"},
}

func phrase(words string) *regexp.Regexp { return regexp.MustCompile(`(?i)\b(?:` + words + `)\b`) }

// Problem is a problem in a text, with its line and a description.
type Problem struct {
	Line int
	Text string
}

// Comments returns the problems of the comments in a Go file. It returns an error if the file does not parse.
func Comments(path string, source []byte) ([]Problem, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, source, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	if ast.IsGenerated(file) {
		return nil, nil
	}
	var problems []Problem
	report := func(pos token.Pos, format string, args ...any) {
		problems = append(problems, Problem{files.Position(pos).Line, fmt.Sprintf(format, args...)})
	}
	for _, group := range file.Comments {
		for _, text := range sentences(group.Text()) {
			if words := len(strings.Fields(text)); words > maxWords {
				report(group.Pos(), "a sentence of %d words, at most %d: %.60q", words, maxWords, text)
			}
			for _, b := range banned {
				if found := b.phrase.FindString(quoted.ReplaceAllString(text, "")); found != "" {
					report(group.Pos(), "%q; use %s", found, b.use)
				}
			}
		}
	}
	for name, doc := range collectDocs(file) {
		if first := strings.Fields(article.ReplaceAllString(doc.Text(), "")); len(first) > 0 &&
			strings.Trim(first[0], ",.:'’s") != strings.Trim(name, "s") {
			report(doc.Pos(), "the comment of %s begins with %q", name, first[0])
		}
	}
	return problems, nil
}

var (
	quoted  = regexp.MustCompile("\"[^\"]*\"|`[^`]*`|“[^”]*”|'[^']*'")
	article = regexp.MustCompile(`^(A|An|The|Deprecated:) `)
	ends    = regexp.MustCompile(`[.:;?!]["”)]*(\s+|$)|\n\n|\n\s*[-*] |\n\t`)
)

// sentences splits a comment into its sentences. The ends of paragraphs and list items also end a sentence.
func sentences(comment string) []string { return ends.Split(comment, -1) }

// collectDocs returns the doc comments of the functions and types in a file, by the declared name.
func collectDocs(file *ast.File) map[string]*ast.CommentGroup {
	docs := map[string]*ast.CommentGroup{}
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if d.Doc != nil {
				docs[d.Name.Name] = d.Doc
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok && t.Doc != nil {
					docs[t.Name.Name] = t.Doc
				} else if ok && d.Doc != nil && len(d.Specs) == 1 {
					docs[t.Name.Name] = d.Doc
				}
			}
		}
	}
	return docs
}

var subject = regexp.MustCompile(`^[a-z0-9][a-z0-9/., -]*: \S`)

// Subject returns a description of the problem in the subject of a commit, or "" if the subject is valid.
func Subject(line string) string {
	switch {
	case len([]rune(line)) > maxSubject:
		return fmt.Sprintf("%d characters, at most %d", len([]rune(line)), maxSubject)
	case !subject.MatchString(line):
		return "begin with the area that changes, such as \"booking: \""
	}
	return ""
}
