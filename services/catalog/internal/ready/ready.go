// Package ready builds from a manifest what catalog serves of a version: the
// compiled snapshot, which other services read, and the data of the public paths.
package ready

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/values/etag"
	"github.com/slotmesh/slotmesh/services/catalog/internal/compile"
	"github.com/slotmesh/slotmesh/services/catalog/internal/public"
	"github.com/slotmesh/slotmesh/services/catalog/internal/store"
)

// Version is one version of a business, ready to be served. A Version never changes, because readers share it.
type Version struct {
	Snapshot    *catalog.Snapshot
	SnapshotTag string // strong entity tag of [Version.SnapshotJSON]

	// Public returns the data that the public paths show. The first call builds this data,
	// because extracting the visible text of descriptions takes longer than compiling the
	// snapshot. A service that reads only the snapshot does not wait for this work.
	Public func() *public.Business
}

// Decoder returns a function that builds a version from its stored text; its argument `number` is the number of the
// version. The argument `base` is the public base URL below which uploaded pictures are served, without a slash.
func Decoder(base string) func(text store.Text, number int64) (*Version, error) {
	return func(text store.Text, number int64) (*Version, error) {
		var m manifest.Manifest
		if err := json.Unmarshal(text.JSON, &m); err != nil {
			return nil, fmt.Errorf("decode manifest: %w", err)
		}
		pictures, err := decodePictures(text.JSON)
		if err != nil {
			return nil, err
		}
		if text.Sanitized {
			return newVersion(&m, pictures, number, base, func() *manifest.Manifest { return &m })
		}
		return newVersion(public.SanitizeForSnapshot(&m), pictures, number, base,
			func() *manifest.Manifest { return public.Sanitize(&m) })
	}
}

// decodePictures returns the pictures in the text of a version, by id.
func decodePictures(text []byte) (map[string]catalog.Picture, error) {
	start := []byte(`{"` + store.PicturesMember + `":`)
	if !bytes.HasPrefix(text, start) {
		return nil, nil
	}
	var pictures map[string]catalog.Picture
	if err := json.NewDecoder(bytes.NewReader(text[len(start):])).Decode(&pictures); err != nil {
		return nil, fmt.Errorf("decode pictures: %w", err)
	}
	return pictures, nil
}

// New builds a version from an unsanitized manifest and the pictures that it shows, by id.
func New(m *manifest.Manifest, pictures map[string]catalog.Picture, number int64) (*Version, error) {
	return newVersion(public.SanitizeForSnapshot(m), pictures, number, "", func() *manifest.Manifest {
		return public.Sanitize(m)
	})
}

// newVersion builds a version from a manifest. The function `sanitized` returns the same manifest with
// sanitized descriptions. The first call of [Version.Public] calls the function `sanitized`.
func newVersion(m *manifest.Manifest, pictures map[string]catalog.Picture, number int64, base string,
	sanitized func() *manifest.Manifest) (*Version, error) {
	snapshot, err := compile.Snapshot(m, pictures, number)
	if err != nil {
		return nil, fmt.Errorf("compile offer: %w", err)
	}
	if err := snapshot.Prepare(); err != nil {
		return nil, fmt.Errorf("prepare offer: %w", err)
	}
	v := &Version{
		Snapshot: snapshot,
		Public:   sync.OnceValue(func() *public.Business { return public.New(sanitized(), snapshot, base) }),
	}
	body, err := v.SnapshotJSON()
	if err != nil {
		return nil, err
	}
	v.SnapshotTag = etag.Of(body)
	return v, nil
}

// SnapshotJSON returns the snapshot as JSON, in the form in which other services read it. The bytes are not
// cached, because each reader reads them once per version and later compares only the entity tag.
func (v *Version) SnapshotJSON() ([]byte, error) {
	body, err := json.Marshal(v.Snapshot)
	if err != nil {
		return nil, fmt.Errorf("encode offer: %w", err)
	}
	return body, nil
}
