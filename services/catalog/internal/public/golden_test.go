package public_test

import (
	"encoding/json"
	"os"
	"testing"
)

// TestInfoWithoutLocationsKeepsBytes shows that /info of a business without locations is, byte for byte, the answer
// from before a manifest could have locations (interface.md).
func TestInfoWithoutLocationsKeepsBytes(t *testing.T) {
	t.Parallel()
	b, _ := readManifest(t, "modules: {services: true, events: false, rentals: false}\n")
	got, errJSON := json.Marshal(b.Info(false))
	want, errFile := os.ReadFile("testdata/info.json")
	if errJSON != nil || errFile != nil || string(got)+"\n" != string(want) {
		t.Errorf("%v, %v: got\n%s\nwant\n%s", errJSON, errFile, got, want)
	}
}
