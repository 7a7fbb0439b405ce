package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/testkit"
)

// TestGeneratedTypeScriptTypesReadAndBook generates types from both documents with openapi-typescript. It compiles them
// in strict mode, together with a program that reads and books.
func TestGeneratedTypeScriptTypesReadAndBook(t *testing.T) {
	t.Parallel()
	node := testkit.InstallNode(t, "openapi-typescript@7.13.0", "typescript@5.9.3")
	w := sharePlatform(t)
	w.publish(t, "typescript", buildSalon("typescript", 1))
	dir := t.TempDir()
	w.writeDocuments(t, dir)
	program, err := os.ReadFile(filepath.Join("testdata", "typescript", "book.ts"))
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "book.ts"), string(program))
	// The program uses only this declaration of Node.js.
	writeFile(t, filepath.Join(dir, "node.d.ts"),
		"declare const process: { env: Record<string, string | undefined> };\n")
	for _, step := range [][]string{
		{"openapi-typescript", "public.json", "--output", "slotmesh.d.ts"},
		{"openapi-typescript", "admin.json", "--output", "admin.d.ts"},
		{
			"tsc", "--strict", "--target", "es2022", "--module", "commonjs", "--lib", "es2022,dom",
			"book.ts", "node.d.ts", "slotmesh.d.ts", "admin.d.ts",
		},
	} {
		if run := node.RunIn(t, dir, nil, step[0], step[1:]...); run.Exit != 0 {
			t.Fatalf("%q ended with %d: %s %s", step, run.Exit, run.Stdout, run.Stderr)
		}
	}
	ran := node.Node(t, dir, []string{"BASE=" + w.startProxy(t, w.PublicURL), "SLUG=typescript", "DAY=2027-03-01",
		"KEY=" + w.createKey(t, "typescript", "write")}, "book.js")
	if ran.Exit != 0 || strings.TrimSpace(ran.Stdout) != "Salon pending" {
		t.Fatalf("the program ended with %d: %s %s", ran.Exit, ran.Stdout, ran.Stderr)
	}
	if n := w.countBookings(t, "typescript"); n != 1 {
		t.Errorf("there are %d bookings", n)
	}
}
