package inputs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const root = "../../.."

// TestPackagesDeclareOutsideInputs checks that tests with a path outside their module mention the hash of the checkout.
// Otherwise Go's test cache would keep their results when the files at these paths change.
func TestPackagesDeclareOutsideInputs(t *testing.T) {
	Checkout()
	outside, declared := map[string]string{}, map[string]bool{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".") && path != root):
			return filepath.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		folder, text := filepath.Dir(path), string(content)
		if strings.Contains(text, "inputs.Checkout(") || strings.Contains(text, CheckoutHash) ||
			strings.Contains(text, "testkit.Build(") {
			declared[folder] = true
		}
		if found := outsidePath(t, path, content); found != "" {
			outside[folder] = path + " names " + found
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(outside) < 8 {
		t.Errorf("only %d packages name paths outside their module: %v", len(outside), outside)
	}
	for folder, found := range outside {
		uncached := strings.HasSuffix(folder, "k8s/e2e") // the script of this folder runs the tests with -count=1
		if !declared[folder] && !uncached {
			t.Errorf("%s, which is outside its module: call inputs.Checkout before it is read", found)
		}
	}
}

// outsidePath returns a path in a test file that exists outside the file's module, or "".
func outsidePath(t *testing.T, path string, content []byte) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, content, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	module := moduleOf(t, path)
	found := ""
	ast.Inspect(file, func(node ast.Node) bool {
		named := namedPath(node)
		if !strings.HasPrefix(named, "..") {
			return true
		}
		place := filepath.Join(filepath.Dir(path), named)
		inside, err := filepath.Rel(module, place)
		if _, missing := os.Stat(place); err == nil && missing == nil && strings.HasPrefix(inside, "..") {
			found = named
		}
		return true
	})
	return found
}

// namedPath returns the path of a string literal, or of a call of filepath.Join with string literals.
func namedPath(node ast.Node) string {
	switch node := node.(type) {
	case *ast.BasicLit:
		if named, err := strconv.Unquote(node.Value); err == nil && strings.HasPrefix(named, "../") {
			return named
		}
	case *ast.CallExpr:
		if called, ok := node.Fun.(*ast.SelectorExpr); !ok || called.Sel.Name != "Join" {
			return ""
		}
		var parts []string
		for _, argument := range node.Args {
			literal, ok := argument.(*ast.BasicLit)
			if !ok {
				break
			}
			part, err := strconv.Unquote(literal.Value)
			if err != nil {
				break
			}
			parts = append(parts, part)
		}
		return filepath.Join(parts...)
	}
	return ""
}

// moduleOf returns the folder of the module that contains a file.
func moduleOf(t *testing.T, path string) string {
	t.Helper()
	for folder := filepath.Dir(path); len(folder) >= len(root); folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder
		}
	}
	t.Fatalf("%s belongs to no module", path)
	return ""
}
