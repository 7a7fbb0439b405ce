// Package mutation changes Go source in small ways that a test should notice. A test suite that stays green after such
// a change does not prove the changed line.
package mutation

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// Mutation is one change of a file.
type Mutation struct {
	Path   string
	Line   int
	Change string // what was replaced, such as "< by <="
	Source []byte // the whole file after the change
}

// replacements maps an operator to the operator that replaces it.
var replacements = map[token.Token]token.Token{
	token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	token.EQL: token.NEQ, token.NEQ: token.EQL, token.LAND: token.LOR, token.LOR: token.LAND,
	token.ADD: token.SUB, token.SUB: token.ADD,
}

// Count returns the number of mutations of a file. It returns an error if the source is invalid.
func Count(path string, source []byte) (int, error) {
	_, file, err := parse(path, source)
	if err != nil {
		return 0, err
	}
	return len(list(file)), nil
}

// Apply returns mutation number n of a file, in the order of the source. The mutation may not compile: an added
// string, for example, cannot be subtracted.
func Apply(path string, source []byte, n int) (Mutation, error) {
	files, file, err := parse(path, source)
	if err != nil {
		return Mutation{}, err
	}
	all := list(file)
	if n < 0 || n >= len(all) {
		return Mutation{}, fmt.Errorf("%s has %d mutations; there is no number %d", path, len(all), n)
	}
	m := Mutation{Path: path, Line: files.Position(all[n].at).Line, Change: all[n].change}
	all[n].apply()
	var out bytes.Buffer
	if err := format.Node(&out, files, file); err != nil {
		return Mutation{}, err
	}
	m.Source = out.Bytes()
	return m, nil
}

func parse(path string, source []byte) (*token.FileSet, *ast.File, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, source, parser.ParseComments)
	return files, file, err
}

// edit is a change of the syntax tree that apply makes.
type edit struct {
	at     token.Pos
	change string
	apply  func()
}

// list returns the edits of all functions in a file.
func list(file *ast.File) []edit {
	var edits []edit
	for _, declared := range file.Decls {
		function, ok := declared.(*ast.FuncDecl)
		if !ok || function.Body == nil {
			continue
		}
		ast.Inspect(function.Body, func(node ast.Node) bool {
			edits = append(edits, editsOf(node)...)
			return true
		})
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return int(a.at - b.at) })
	return edits
}

func editsOf(node ast.Node) []edit {
	switch n := node.(type) {
	case *ast.BinaryExpr:
		if with, ok := replacements[n.Op]; ok {
			return []edit{{n.OpPos, fmt.Sprintf("%s by %s", n.Op, with), func() { n.Op = with }}}
		}
	case *ast.BasicLit:
		if value, err := strconv.Atoi(n.Value); n.Kind == token.INT && err == nil {
			with := strconv.Itoa(value + 1)
			return []edit{{n.Pos(), n.Value + " by " + with, func() { n.Value = with }}}
		}
	case *ast.IfStmt:
		return []edit{{n.Cond.Pos(), "the condition by its negation",
			func() { n.Cond = &ast.UnaryExpr{Op: token.NOT, X: &ast.ParenExpr{X: n.Cond}} }}}
	case *ast.BlockStmt:
		return removals(n)
	}
	return nil
}

// removals returns an edit for each statement of a block that can be removed: a call or an assignment to an existing
// variable.
func removals(block *ast.BlockStmt) []edit {
	var edits []edit
	for i, statement := range block.List {
		switch s := statement.(type) {
		case *ast.ExprStmt:
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE {
				continue
			}
		default:
			continue
		}
		edits = append(edits, edit{statement.Pos(), "the statement by nothing", func() {
			block.List = slices.Delete(slices.Clone(block.List), i, i+1)
		}})
	}
	return edits
}

// IsMutable reports whether a file of the given name has code that tests prove: it is Go, no test and not generated.
func IsMutable(name string, source []byte) bool {
	return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") &&
		!bytes.Contains(source[:min(len(source), 200)], []byte("DO NOT EDIT"))
}
