package manifest

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func example(t testing.TB) []byte {
	t.Helper()
	src, err := os.ReadFile("../../charts/slotmesh/files/demo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func mustParse(t testing.TB, src []byte) *Manifest {
	t.Helper()
	m, problems := Parse(src)
	for _, p := range problems {
		t.Error(p)
	}
	if m == nil {
		t.FailNow()
	}
	return m
}

func TestExampleReadsBackEqualFromItsJSON(t *testing.T) {
	t.Parallel()
	m := mustParse(t, example(t))
	asJSON, err := json.MarshalIndent(m, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, mustParse(t, asJSON)); diff != "" {
		t.Error(diff)
	}
	var plain Manifest
	if err := json.NewDecoder(bytes.NewReader(asJSON)).Decode(&plain); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(m, &plain); diff != "" {
		t.Error(diff)
	}
}
