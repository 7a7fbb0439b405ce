package manifest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// MaxProblems is the maximal number of problems that [Parse]
// returns. One more problem states the number of further problems.
const MaxProblems = 200

const (
	// maxStored is the maximal number of stored problems. It bounds the memory and the
	// time for a document with very many problems. Further problems are only counted.
	maxStored = 2000
	// maxFailedPaths is the maximal number of stored paths of unreadable values.
	maxFailedPaths = 100_000
)

// Problem is one mistake in a manifest. Its message names the mistake and describes a valid value.
type Problem struct {
	Path    string `json:"path"` // such as services[3].price; "" for the whole document
	Line    int    `json:"line"` // line in the source, from 1
	Message string `json:"message"`

	// Code and Params are for programs that write the message themselves, for example in another language.
	Code   Code              `json:"-"`
	Params map[string]string `json:"-"`
}

// String returns the problem as one line of text.
func (p Problem) String() string {
	if p.Path == "" {
		return fmt.Sprintf("line %d: %s", p.Line, p.Message)
	}
	return fmt.Sprintf("line %d: %s: %s", p.Line, p.Path, p.Message)
}

// path is the place of a value in the document. Each element points to its parent. The root is nil.
type path struct {
	parent *path
	name   string // field name or map key; unused for an item of a list
	index  int    // index of an item of a list; otherwise -1
}

func (p *path) field(name string) *path { return &path{parent: p, name: name, index: -1} }
func (p *path) item(i int) *path        { return &path{parent: p, index: i} }

// steps returns the elements of the path, from the root to `p`.
func (p *path) steps() []*path {
	var steps []*path
	for ; p != nil; p = p.parent {
		steps = append(steps, p)
	}
	slices.Reverse(steps)
	return steps
}

func (p *path) String() string {
	var b strings.Builder
	for _, s := range p.steps() {
		switch {
		case s.index >= 0:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case !isPlainName(s.name):
			b.WriteString("[" + quote(s.name) + "]")
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.name)
		}
	}
	return b.String()
}

func isPlainName(s string) bool {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"
	return s != "" && len(s) <= 64 && strings.Trim(s, plain) == ""
}

// report collects problems.
type report struct {
	problems []Problem
	// failed holds the paths of values that could not be read. A problem
	// is not reported if an unreadable value may be its only cause.
	failed  map[string]bool
	dropped int
}

// add reports a problem and returns it, so that the caller can set its code. If the report is full, add returns nil.
func (r *report) add(at *path, line int, format string, args ...any) *Problem {
	if r.isFull() {
		r.dropped++
		return nil
	}
	r.problems = append(r.problems, Problem{Path: at.String(), Line: line, Message: fmt.Sprintf(format, args...)})
	return &r.problems[len(r.problems)-1]
}

func (r *report) isFull() bool { return len(r.problems) >= maxStored }

// fail reports a problem as add does, for a value that could not
// be read. It also stores the path of the value for hasFailed.
func (r *report) fail(at *path, line int, format string, args ...any) *Problem {
	if r.failed == nil {
		r.failed = map[string]bool{}
	}
	if len(r.failed) < maxFailedPaths {
		r.failed[at.String()] = true
	}
	return r.add(at, line, format, args...)
}

// hasFailed reports whether the value at a path, or a value that contains this value, could not be read.
func (r *report) hasFailed(at *path) bool {
	if len(r.failed) == 0 {
		return false
	}
	for p := at; p != nil; p = p.parent {
		if r.failed[p.String()] {
			return true
		}
	}
	return r.failed[""]
}

// sortProblems returns the problems ordered by line. There are at most
// [MaxProblems] problems, and one more that states the number of further problems.
func (r *report) sortProblems() []Problem {
	slices.SortStableFunc(r.problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	all := len(r.problems) + r.dropped
	if all <= MaxProblems {
		return r.problems
	}
	listed := slices.Clone(r.problems[:MaxProblems])
	return append(listed, Problem{
		Line:    listed[MaxProblems-1].Line,
		Message: fmt.Sprintf("and %d more problems; correct these first", all-MaxProblems),
	})
}

// findLine returns the line of the value at a path. If the source does not contain this value,
// findLine returns the line of the innermost list or object on the path that the source contains.
func findLine(root *yaml.Node, at *path) int {
	n, line := root, root.Line
	for _, s := range at.steps() {
		next := findChild(n, s)
		if next == nil {
			return line
		}
		n, line = resolveAlias(next), next.Line
	}
	return line
}

func findChild(n *yaml.Node, s *path) *yaml.Node {
	if s.index >= 0 {
		if n.Kind == yaml.SequenceNode && s.index < len(n.Content) {
			return n.Content[s.index]
		}
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for _, e := range listEntries(n) {
		if e.key.Value == s.name {
			return e.value
		}
	}
	return nil
}

// Invalid returns the error for an invalid manifest: a fault with code invalid_parameter,
// whose Extra has all problems under "problems". The argument must not be empty.
func Invalid(problems []Problem) error {
	f := fault.Newf(fault.InvalidParameter, "The manifest is not valid: %s.", problems[0])
	if len(problems) > 1 {
		f = fault.Newf(fault.InvalidParameter, "The manifest is not valid in %d places; the first: %s.", len(problems),
			problems[0])
	}
	f.Extra = map[string]any{"problems": problems}
	return f
}

// ProblemsOf returns the problems in an error of the admin API.
// It returns nil if the error does not concern a manifest.
func ProblemsOf(err error) []Problem {
	var refused *fault.Error
	if !errors.As(err, &refused) {
		return nil
	}
	text, err := json.Marshal(refused.Extra["problems"])
	if err != nil {
		return nil
	}
	var problems []Problem
	if json.Unmarshal(text, &problems) != nil {
		return nil
	}
	return problems
}
