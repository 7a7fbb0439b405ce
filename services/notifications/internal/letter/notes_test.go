package letter

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
)

// Owners may add a note to each kind of message to customers, and to no other kind (lifecycle.md §2).
func TestManifestAllowsNotesForCustomerKinds(t *testing.T) {
	t.Parallel()
	var kinds []string
	for k := range layouts {
		kinds = append(kinds, string(k))
	}
	if diff := cmp.Diff(manifest.MessageKinds(), kinds,
		cmpopts.SortSlices(func(a, b string) bool { return a < b })); diff != "" {
		t.Errorf("kinds of the manifest, and of letters (-want +got):\n%s", diff)
	}
}
