package e2e

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"go.yaml.in/yaml/v3"

	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
)

// findRepository returns the folder of the repository. A test that calls it depends on all files there.
func findRepository() string {
	inputs.Checkout()
	return "../../.."
}

// proof is a row of proofs.yaml: a statement about a part of the document, and the tests that prove the statement.
type proof struct {
	About, Statement string
	Tests            []string
}

// nameSection returns the endpoint or the schema that the row is about. Examples: "slots" for "§4 slots", "Variant" for
// "§2 Variant (added)", "rental-availability" for "§4 rental-availability 5".
func (p proof) nameSection() string {
	_, name, _ := strings.Cut(strings.TrimSuffix(p.About, " (added)"), " ")
	return strings.TrimRight(name, " 0123456789")
}

func readProofs(t *testing.T) []proof {
	t.Helper()
	text, err := os.ReadFile("proofs.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var rows []proof
	if err := yaml.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	return rows
}

// listTests returns the names of the test functions of a package. It reads the source, because no package can import
// another package's tests.
func listTests(t *testing.T, directory string) map[string]bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(findRepository(), directory, "*_test.go"))
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
	quotedName   = regexp.MustCompile("`([\\w-]+)`")
	capital      = regexp.MustCompile(`\B[A-Z]`)
)

// TestProofsCoverDocument checks that every row of proofs.yaml is unique and names tests that exist. Every path of the
// public OpenAPI document must have a row. A row about the endpoint must quote each query and header parameter, and a
// row about the schema or the endpoint must quote each field. The test cannot check that the tests prove the statement
// of a row.
func TestProofsCoverDocument(t *testing.T) {
	t.Parallel()
	rows := readProofs(t)
	tests := make(map[string]map[string]bool)
	stated := make(map[string]bool)
	for _, row := range rows {
		if stated[row.About+row.Statement] || len(row.Tests) == 0 {
			t.Errorf("%s is stated twice, or names no test: %s", row.About, row.Statement)
		}
		stated[row.About+row.Statement] = true
		for _, name := range row.Tests {
			folder, test, _ := strings.Cut(name, ".")
			if tests[folder] == nil {
				tests[folder] = listTests(t, folder)
			}
			if !tests[folder][test] {
				t.Errorf("%s, %s: the test %s does not exist in %s", row.About, row.Statement, test, folder)
			}
		}
	}
	if len(rows) == 0 {
		t.Fatal("the table is empty")
	}
	text, err := os.ReadFile(filepath.Join(findRepository(), "services/catalog/internal/docs/public.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	described, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	spoken := make(map[string][][]string) // the names that each row quotes, by section
	for _, row := range rows {
		var names []string
		for _, name := range quotedName.FindAllStringSubmatch(row.Statement, -1) {
			names = append(names, name[1])
		}
		spoken[row.nameSection()] = append(spoken[row.nameSection()], names)
	}
	for _, s := range listSubjects(described) {
		if !s.isStatedIn(spoken) {
			t.Errorf("no row speaks of %s, which the document describes", s)
		}
	}
}

// subject is a part of the document that a row must mention.
type subject struct {
	sections []string // a row about one of these sections is enough
	// the row quotes all of them: the enclosing fields, then the field itself; an endpoint has no names
	names []string
}

func (s subject) String() string {
	if len(s.names) == 0 {
		return "the endpoint " + s.sections[0]
	}
	return fmt.Sprintf("%s of %s", strings.Join(s.names, "."), strings.Join(s.sections, " or "))
}

func (s subject) isStatedIn(spoken map[string][][]string) bool {
	for _, section := range s.sections {
		for _, quoted := range spoken[section] {
			if !slices.ContainsFunc(s.names, func(name string) bool { return !slices.Contains(quoted, name) }) {
				return true
			}
		}
	}
	return false
}

// listSubjects returns the endpoints, their query and header parameters, and all fields. The section of an endpoint is
// its path below the business, such as "slots". The section of a schema is its name in words, such as "Ticket tier". A
// row about the endpoint or about the schema may quote a field of a body.
func listSubjects(described *openapi3.T) []subject {
	var all []subject
	bodies := make(map[string]bool)
	for at, item := range described.Paths.Map() {
		endpoint := strings.TrimPrefix(strings.TrimPrefix(at, "/api/public/"), "{slug}/")
		all = append(all, subject{[]string{endpoint}, nil})
		for _, operation := range item.Operations() {
			for _, parameter := range slices.Concat(item.Parameters, operation.Parameters) {
				if parameter.Value.In != openapi3.ParameterInPath {
					all = append(all, subject{[]string{endpoint}, []string{parameter.Value.Name}})
				}
			}
			for _, body := range listBodies(operation) {
				sections := []string{endpoint}
				if body.Ref != "" {
					bodies[body.Ref] = true
					sections = append(sections, findSection(path.Base(body.Ref)))
				}
				all = append(all, listFields(body, sections)...)
			}
		}
	}
	for name, schema := range described.Components.Schemas {
		if !bodies["#/components/schemas/"+name] {
			all = append(all, listFields(schema, []string{findSection(name)})...)
		}
	}
	return all
}

func findSection(schema string) string {
	return capital.ReplaceAllStringFunc(schema, func(letter string) string { return " " + strings.ToLower(letter) })
}

func listBodies(operation *openapi3.Operation) []*openapi3.SchemaRef {
	var contents []openapi3.Content
	if operation.RequestBody != nil {
		contents = append(contents, operation.RequestBody.Value.Content)
	}
	for _, response := range operation.Responses.Map() {
		contents = append(contents, response.Value.Content)
	}
	var bodies []*openapi3.SchemaRef
	for _, content := range contents {
		for _, media := range content {
			bodies = append(bodies, media.Schema)
		}
	}
	return bodies
}

// listFields returns the fields of a schema and of its inline objects. The argument `within` has the names of the
// enclosing fields.
func listFields(schema *openapi3.SchemaRef, sections []string, within ...string) []subject {
	var all []subject
	for name, field := range schema.Value.Properties {
		names := append(slices.Clone(within), name)
		all = append(all, subject{sections, names})
		if field.Ref == "" {
			all = append(all, listFields(field, sections, names...)...)
		}
	}
	inner := slices.Concat(schema.Value.AllOf, schema.Value.AnyOf, schema.Value.OneOf)
	for _, part := range append(inner, schema.Value.Items, schema.Value.AdditionalProperties.Schema) {
		if part != nil && part.Ref == "" {
			all = append(all, listFields(part, sections, within...)...)
		}
	}
	return all
}

// TestMakefileNamesExistingTests checks that the names by which the Makefile selects tests are beginnings of test
// names. A target with another name would run no test and pass.
func TestMakefileNamesExistingTests(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(findRepository(), "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	for _, folder := range []string{"libs", "services"} {
		err := filepath.WalkDir(filepath.Join(findRepository(), folder),
			func(path string, _ fs.DirEntry, err error) error {
				if err != nil || !strings.HasSuffix(path, "_test.go") {
					return err
				}
				source, err := os.ReadFile(path)
				tests.Write(source)
				return err
			})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range regexp.MustCompile(`\bTest[A-Z]\w*`).FindAllString(string(makefile), -1) {
		if !strings.Contains(tests.String(), "\nfunc "+name) {
			t.Errorf("the Makefile selects %s, and no test begins with this name", name)
		}
	}
}
