package catalogclient

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/platform/peer"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Owner is the client for the part of catalog's internal API that publishes and
// reads manifests for owners. Every method returns the fault that the catalog
// service sent, or fault.PeerUnavailable if the catalog service did not answer.
//
// The peer needs a longer timeout than usual, because validating and storing a large manifest takes seconds.
type Owner struct {
	peer  *peer.Client
	binds bool
}

// NewOwner returns a client that sends its requests through the argument `p`.
func NewOwner(p *peer.Client) *Owner { return &Owner{peer: p} }

// Binding returns a copy of the client. If `binds` is true, publications and rollbacks by this copy
// bind the payment accounts in the manifest to the business. Only operators may bind payment accounts.
func (o *Owner) Binding(binds bool) *Owner { return &Owner{peer: o.peer, binds: binds} }

// bindsParameter returns the query parameter of a publication or a rollback.
func (o *Owner) bindsParameter() string {
	if !o.binds {
		return ""
	}
	return strconv.FormatBool(o.binds)
}

// Publish publishes the manifest in the argument `text` as the newest version of the business.
// The argument `mediaType` is the format of `text`; if it is "", the catalog service detects
// the format. The argument `ifMatch` is the If-Match header of the owner's request, or "".
//
// Faults: invalid_parameter, whose Extra has a list of manifest.Problem under "problems";
// precondition_failed; payload_too_large; forbidden if a payment account is not bound to the business.
func (o *Owner) Publish(ctx context.Context, slug string, text []byte,
	mediaType, ifMatch string) (*catalog.Published, error) {
	header := ifMatchHeader(ifMatch)
	if mediaType != "" {
		header.Set("Content-Type", mediaType)
	}
	return published(ctx, o, Publish, header, Publication[[]byte]{slug, o.bindsParameter(), text})
}

// Create publishes the first version of a business. Faults: the faults of
// [Owner.Publish]; precondition_failed if a business with this slug exists already.
func (o *Owner) Create(ctx context.Context, slug string, text []byte, mediaType string) (*catalog.Published, error) {
	header := http.Header{"Content-Type": {mediaType}, "If-None-Match": {"*"}}
	return published(ctx, o, Publish, header, Publication[[]byte]{slug, o.bindsParameter(), text})
}

// published sends a publication or a rollback with additional headers.
func published[Body any](ctx context.Context, o *Owner,
	e endpoints.Endpoint[Publication[Body], catalog.Published], header http.Header,
	wanted Publication[Body]) (*catalog.Published, error) {
	response, err := o.peer.Do(ctx, peer.Request{Method: e.Method, Path: e.URL(&wanted), Header: header,
		Body: wanted.Body})
	if err != nil {
		return nil, err
	}
	published := new(catalog.Published)
	if err := json.Unmarshal(response.Body, published); err != nil {
		return nil, fault.Wrap(fault.PeerUnavailable, err, "The catalog service gave an unreadable answer; try again "+
			"shortly.")
	}
	return published, nil
}

// Compile returns the snapshot that a publication of the manifest in the argument `text` would
// create. It publishes nothing. The caller must call [catalog.Snapshot.Prepare] before it uses
// the result. Faults: invalid_parameter and payload_too_large as for [Owner.Publish].
func (o *Owner) Compile(ctx context.Context, slug string, text []byte) (*catalog.Snapshot, error) {
	return Compile.Call(ctx, o.peer, File[endpoints.OfSlug]{endpoints.OfSlug{Slug: slug}, text})
}

// Get returns a version of the manifest of a business. Version 0 means the newest one. The argument
// `accept` is the Accept header of the owner's request: if it prefers YAML, the manifest is returned as
// YAML, otherwise as JSON. If the owner wrote the manifest in the returned format, its text is unchanged.
//
// Faults: business_not_found; not_found for an unknown version.
func (o *Owner) Get(ctx context.Context, slug string, version int64, accept string) (*catalog.Manifest, error) {
	wanted := ManifestRequest{Slug: slug}
	if version != 0 {
		wanted.Version = strconv.FormatInt(version, 10)
	}
	header := http.Header{}
	if accept != "" {
		header.Set("Accept", accept)
	}
	response, err := o.peer.Do(ctx, peer.Request{Method: http.MethodGet, Path: ReadManifest.URL(&wanted),
		Header: header})
	if err != nil {
		return nil, err
	}
	return &catalog.Manifest{
		Text: response.Body, MediaType: response.Header.Get("Content-Type"), ETag: response.Header.Get("ETag"),
	}, nil
}

// List returns one page of businesses, in the order of their slugs. The argument `of` selects businesses by their ids;
// nil selects all businesses. Faults: invalid_parameter for an invalid page, or for more than [catalog.MaxListed] ids.
func (o *Owner) List(ctx context.Context, of []uuid.UUID, page request.Page) (*catalog.BusinessList, error) {
	if of != nil && len(of) == 0 {
		return &catalog.BusinessList{Businesses: []catalog.Business{}}, nil
	}
	return ListBusinesses.Call(ctx, o.peer, BusinessesRequest{page, of})
}

// Versions returns one page of the versions of a business, newest first.
// Faults: business_not_found; invalid_parameter for an invalid page.
func (o *Owner) Versions(ctx context.Context, slug string, page request.Page) (*catalog.VersionList, error) {
	return ListVersions.Call(ctx, o.peer, PageRequest{slug, page})
}

// Rollback publishes an old version of a business again as its newest version. The
// argument `ifMatch` is the If-Match header of the owner's request, or "". Faults:
// business_not_found; not_found for an unknown version; precondition_failed.
func (o *Owner) Rollback(ctx context.Context, slug string, version int64, ifMatch string) (*catalog.Published, error) {
	return published(ctx, o, Rollback, ifMatchHeader(ifMatch),
		Publication[catalog.Rollback]{slug, o.bindsParameter(), catalog.Rollback{Version: version}})
}

func ifMatchHeader(ifMatch string) http.Header {
	header := http.Header{}
	if ifMatch != "" {
		header.Set("If-Match", ifMatch)
	}
	return header
}

// Delete removes the business with this slug and id, with all its versions and its snapshot. Faults:
// business_not_found if there is no such business, or if another business now has the slug.
func (o *Owner) Delete(ctx context.Context, slug string, id uuid.UUID) error {
	return Remove.Send(ctx, o.peer, OfBusiness{slug, id})
}
