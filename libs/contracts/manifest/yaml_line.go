package manifest

import (
	"bytes"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

var (
	yamlLine   = regexp.MustCompile(`^(?:yaml: )?line (\d+): `)
	yamlAnchor = regexp.MustCompile(`unknown anchor '(.+)' referenced`)
	indentTab  = regexp.MustCompile(`(?m)^ *\t`)
)

// maxLocatedBytes is the maximal size of a source, in bytes,
// that [yamlProblem] parses again to find the line of an error.
const maxLocatedBytes = 256 << 10

// yamlProblem converts an error of the YAML library into a problem. The line of the problem
// is the line that the author must correct. The library often reports another line, such as
// the line on which the surrounding list or object begins, or the line before the error.
func yamlProblem(src []byte, err error) *Problem {
	text, line := err.Error(), 1
	if m := yamlLine.FindStringSubmatchIndex(text); m != nil {
		line, _ = strconv.Atoi(text[m[2]:m[3]])
		text = text[m[1]:]
	}
	text = strings.TrimPrefix(text, "yaml: ")
	hint := "check the indentation and quotes near this line"
	switch {
	case strings.Contains(text, "tab character") || strings.Contains(text, "cannot start any token") &&
		indentTab.Match(src):
		if at := indentTab.FindIndex(src); at != nil {
			line = countLines(src, at[0])
		}
		text, hint = "a tab indents it", "indent with spaces"
	case strings.HasPrefix(text, "found unexpected end of stream"):
		text, hint = "a quote that opens here is not closed", "close it, or leave it out"
	case strings.HasPrefix(text, "did not find expected ',' or "):
		// The library counts the line with the opening bracket from 0.
		line++
		text, hint = "a bracket that opens here is not closed", "close it, and check the commas after it"
	case yamlAnchor.MatchString(text):
		name := yamlAnchor.FindStringSubmatch(text)[1]
		if at := bytes.Index(src, []byte("*"+name)); at >= 0 {
			line = countLines(src, at)
		}
		text, hint = "there is no anchor &"+name, "quote a text that begins with *"
	case len(src) <= maxLocatedBytes:
		line = findFailingLine(src, err.Error(), line)
	}
	return &Problem{Line: line, Message: "the YAML cannot be read (" + text + "); " + hint}
}

// findFailingLine returns the number of the first line up to which parsing fails for the same
// reason as for the whole source. If there is no such line, it returns the argument `line`.
// Later lines cannot correct an error of indentation, so a binary search finds the line.
func findFailingLine(src []byte, reason string, line int) int {
	reason = yamlLine.ReplaceAllString(reason, "")
	lines := bytes.SplitAfter(src, []byte("\n"))
	end := 0
	ends := make([]int, len(lines))
	for i, l := range lines {
		end += len(l)
		ends[i] = end
	}
	n := sort.Search(len(lines), func(i int) bool {
		err := yaml.Unmarshal(src[:ends[i]], &yaml.Node{})
		return err != nil && yamlLine.ReplaceAllString(err.Error(), "") == reason
	})
	if n == len(lines) {
		return line
	}
	return n + 1
}
