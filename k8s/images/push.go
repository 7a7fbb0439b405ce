package images

import (
	"context"
	"fmt"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Push builds the image of a service and pushes it to a registry. The argument `what` is the name of the service. The
// image is a multi-platform image for the given architectures (GOARCH values). The image's repository is `prefix +
// what`, and its tag is src.Version.
//
// If the registry is on this machine, Push uses HTTP. Push authenticates with the credentials of `docker login`, and
// returns the digest of the image index.
func Push(ctx context.Context, src Source, architectures []string, prefix, what string) (string, error) {
	tag, err := name.NewTag(prefix + what + ":" + src.Version)
	if err != nil {
		return "", err
	}
	list, err := newIndex(ctx, src, architectures, what)
	if err != nil {
		return "", fmt.Errorf("image of %s: %w", what, err)
	}
	if err := remote.WriteIndex(tag, list, remote.WithContext(ctx),
		remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
		return "", fmt.Errorf("sending the image to %s: %w", tag.Context(), err)
	}
	digest, err := list.Digest()
	return digest.String(), err
}

// newIndex returns the index of a service's images for all architectures. Like the images, the index has Docker's
// format.
func newIndex(ctx context.Context, src Source, architectures []string, what string) (v1.ImageIndex, error) {
	list := mutate.IndexMediaType(empty.Index, types.DockerManifestList)
	for _, arch := range architectures {
		src.Arch = arch
		img, err := buildService(ctx, src, what)
		if err != nil {
			return nil, err
		}
		platform := v1.Platform{OS: "linux", Architecture: arch}
		list = mutate.AppendManifests(list,
			mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &platform}})
	}
	return list, nil
}
