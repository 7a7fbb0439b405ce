package command_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/console/internal/consoletest"
)

// TestSchemaIsServedAtEditorLineAddress requests the schema address in the first line of a manifest without a
// token. It expects the text that `slotmesh schema` prints.
func TestSchemaIsServedAtEditorLineAddress(t *testing.T) {
	t.Parallel()
	s := newShell(t, consoletest.Start(t))
	output := s.mustRun("schema")
	var schema struct{ Title string }
	if err := json.Unmarshal([]byte(output), &schema); err != nil || schema.Title != "Slotmesh manifest" {
		t.Errorf("%v %.100s", err, output)
	}
	line, _, _ := strings.Cut(s.mustRun("init", "salon"), "\n")
	address, is := strings.CutPrefix(line, "# yaml-language-server: $schema=")
	if !is {
		t.Fatalf("the first line is %q", line)
	}
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	served, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK || string(served) != output {
		t.Errorf("%s answers %d %.100s, %v", address, answer.StatusCode, served, err)
	}
}
