package compile

import (
	"os"
	"testing"

	"github.com/slotmesh/slotmesh/libs/manifest"
)

func example(t *testing.T) *manifest.Manifest {
	t.Helper()
	src, err := os.ReadFile("../../../../libs/manifest/testdata/harbor-studio.yaml")
	if err != nil {
		t.Fatal(err)
	}
	m, problems := manifest.Parse(src)
	for _, p := range problems {
		t.Fatal(p)
	}
	return m
}

func TestExampleCompiles(t *testing.T) {
	t.Parallel()
	offer, err := Offer(example(t), 7)
	if err != nil {
		t.Fatal(err)
	}
	if err := offer.Prepare(); err != nil {
		t.Fatal(err)
	}
	if offer.Version != 7 || offer.Slug != "harbor-studio" {
		t.Errorf("got version %d of %s", offer.Version, offer.Slug)
	}
}
