// Package markdown checks the documents of the repository: their links, and the length of the sentences in the books
// below docs.
package markdown

import (
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"
	"unicode"
)

// maxWords is the maximal number of words in a sentence of a book.
const maxWords = 30

// Problem is a problem in a document, with its line and a description.
type Problem struct {
	Line int
	Text string
}

var (
	// The text of a link may continue on the next line, but the target may not.
	link     = regexp.MustCompile(`\]\(([^()\s]+)\)|<img[^>]* src="([^"]+)"`)
	heading  = regexp.MustCompile(`^#{1,6} +(.+?) *#*$`)
	fence    = regexp.MustCompile("^ *(```+|~~~+)")
	codeSpan = regexp.MustCompile("`[^`\n]*`")
	linkText = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	ends     = regexp.MustCompile(`[.:;?!]["”)*_]*(\s+|$)`)
	block    = regexp.MustCompile(`^ *([-*>|<#]|\d+\. )|^( {4}|\t)`)
)

// Links returns the links of a document that lead nowhere. The argument `name` is the path of the document in the
// repository. The function `read` returns the text of a file of the repository, and whether the file or folder exists.
// Links to other sites are not checked.
func Links(name, text string, read func(name string) (string, bool)) []Problem {
	var problems []Problem
	for i, line := range strings.Split(blankCode(text), "\n") {
		for _, match := range link.FindAllStringSubmatch(line, -1) {
			target := match[1] + match[2]
			if strings.Contains(target, ":") || strings.HasPrefix(target, "/") {
				continue
			}
			file, anchor, _ := strings.Cut(target, "#")
			at := name
			if file != "" {
				at = path.Join(path.Dir(name), file)
			}
			content, exists := read(at)
			switch {
			case !exists:
				problems = append(problems, Problem{i + 1, fmt.Sprintf("%s does not exist", at)})
			case anchor != "" && strings.HasSuffix(at, ".md") && !hasAnchor(content, anchor):
				problems = append(problems, Problem{i + 1, fmt.Sprintf("%s has no heading #%s", at, anchor)})
			}
		}
	}
	return problems
}

// Sentences returns the sentences of a document that are too long. It reads paragraphs and list items. It does not read
// tables, code and HTML.
func Sentences(text string) []Problem {
	var problems []Problem
	var paragraph []string
	first := 0
	flush := func() {
		for _, sentence := range ends.Split(strings.Join(paragraph, " "), -1) {
			if words := len(strings.Fields(sentence)); words > maxWords {
				problems = append(problems, Problem{first, fmt.Sprintf("a sentence of %d words, at most %d: %.60q",
					words, maxWords, sentence)})
			}
		}
		paragraph = nil
	}
	for i, line := range strings.Split(blankCode(text), "\n") {
		item := strings.TrimLeft(line, " ")
		switch {
		case strings.TrimSpace(line) == "" || strings.HasPrefix(item, "|") || strings.HasPrefix(item, "#") ||
			strings.HasPrefix(item, "<") || strings.HasPrefix(item, ":::"):
			flush()
			continue
		case block.MatchString(line):
			flush()
		}
		if len(paragraph) == 0 {
			first = i + 1
		}
		paragraph = append(paragraph, linkText.ReplaceAllString(item, "$1"))
	}
	flush()
	return problems
}

// blankCode replaces code by spaces, so that the lines keep their numbers.
func blankCode(text string) string {
	lines := strings.Split(text, "\n")
	open, wasBlank, isCode := "", true, false
	for i, line := range lines {
		marker := fence.FindStringSubmatch(line)
		switch {
		case open != "":
			if marker != nil && strings.HasPrefix(marker[1], open) {
				open = ""
			}
			lines[i] = ""
			continue
		case marker != nil:
			open = marker[1]
			lines[i] = ""
			continue
		}
		// Code that is indented by four spaces follows an empty line. List items may be indented, too, so that only
		// lines without a list before them are code.
		isIndented := strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t")
		isCode = isIndented && (wasBlank || isCode)
		wasBlank = strings.TrimSpace(line) == ""
		if isCode {
			lines[i] = ""
		}
	}
	return codeSpan.ReplaceAllStringFunc(strings.Join(lines, "\n"), func(code string) string {
		return strings.Repeat("x", len(code))
	})
}

// hasAnchor reports whether a document has a heading with this anchor.
func hasAnchor(text, anchor string) bool {
	uses := map[string]int{}
	isCode := false
	for line := range strings.SplitSeq(text, "\n") {
		if fence.MatchString(line) {
			isCode = !isCode
		}
		match := heading.FindStringSubmatch(line)
		if isCode || match == nil {
			continue
		}
		name := Anchor(match[1])
		if n := uses[name]; n > 0 {
			uses[name]++
			name += "-" + strconv.Itoa(n)
		} else {
			uses[name] = 1
		}
		if name == anchor {
			return true
		}
	}
	return false
}

// Anchor returns the anchor of a heading, as GitHub makes it. The site of the books makes the same anchors.
func Anchor(heading string) string {
	heading = linkText.ReplaceAllString(heading, "$1")
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}
