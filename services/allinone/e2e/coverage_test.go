package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// root is the repository, seen from here.
const root = "../../.."

// proofs are the rows of the table in services/README.md.
type proof struct{ place, statement, tests string }

func proofs(t *testing.T) []proof {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "services", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []proof
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if strings.HasPrefix(line, "| §") && len(cells) == 3 {
			rows = append(rows, proof{strings.TrimSpace(cells[0]), cells[1], cells[2]})
		} else if strings.HasPrefix(line, "| §") {
			t.Errorf("a row has not three cells: %s", line)
		}
	}
	return rows
}

// testsOf names the test functions of a package, read from its source: no package can import another's tests.
func testsOf(t *testing.T, directory string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, directory, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]bool)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range testFunction.FindAllStringSubmatch(string(text), -1) {
			found[match[1]] = true
		}
	}
	return found
}

var (
	testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(\w+ \*testing\.T\)`)
	namedTest    = regexp.MustCompile("`([a-z0-9/]+)\\.(Test\\w+)`")
	quotedName   = regexp.MustCompile("`(\\w+)`")
)

func TestTheTableOfProofsHolds(t *testing.T) {
	t.Parallel()
	tests := make(map[string]map[string]bool)
	stated, spoken := make(map[string]bool), make(map[string]bool)
	for _, row := range proofs(t) {
		if key := row.place + row.statement; stated[key] {
			t.Errorf("%s is stated twice: %s", row.place, row.statement)
		} else {
			stated[key] = true
		}
		for _, name := range quotedName.FindAllStringSubmatch(row.statement, -1) {
			spoken[name[1]] = true
		}
		named := namedTest.FindAllStringSubmatch(row.tests, -1)
		if len(named) == 0 {
			t.Errorf("%s, %s: no test is named", row.place, row.statement)
		}
		for _, name := range named {
			if tests[name[1]] == nil {
				tests[name[1]] = testsOf(t, name[1])
			}
			if !tests[name[1]][name[2]] {
				t.Errorf("%s, %s: there is no test %s in %s", row.place, row.statement, name[2], name[1])
			}
		}
	}
	if len(stated) == 0 {
		t.Fatal("the table is empty")
	}
	text, err := os.ReadFile(filepath.Join(root, "services/catalog/internal/docs/public.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	described, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	for name := range namesOf(described) {
		if !spoken[name] {
			t.Errorf("no row speaks of %s, which the document describes", name)
		}
	}
}

// namesOf are the names of the query parameters and of the fields.
func namesOf(described *openapi3.T) map[string]bool {
	names := make(map[string]bool)
	for _, item := range described.Paths.Map() {
		for _, operation := range item.Operations() {
			for _, parameter := range operation.Parameters {
				if parameter.Value.In == openapi3.ParameterInQuery {
					names[parameter.Value.Name] = true
				}
			}
		}
	}
	for _, schema := range described.Components.Schemas {
		for name := range schema.Value.Properties {
			names[name] = true
		}
	}
	return names
}
