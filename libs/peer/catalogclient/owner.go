package catalogclient

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer"
	"github.com/slotmesh/slotmesh/libs/peer/catalog"
	"github.com/slotmesh/slotmesh/libs/peer/typed"
	"github.com/slotmesh/slotmesh/libs/request"
)

// Owner is the owner's side of catalog's internal API: publishing manifests and reading them back. Every method
// returns the fault that catalog answered with, or one of kind fault.PeerUnavailable where it did not answer.
//
// A large manifest takes seconds to check and store: give the peer a timeout above the usual one.
type Owner struct {
	peer  *peer.Client
	binds bool
}

// NewOwner returns a client of the owner's side of catalog.
func NewOwner(p *peer.Client) *Owner { return &Owner{peer: p} }

// Binding returns a client whose publishes and rollbacks bind payment accounts to the business, as an operator may, if binds is set.
func (o *Owner) Binding(binds bool) *Owner { return &Owner{peer: o.peer, binds: binds} }

// bindQuery is the query of a publish and of a rollback.
func (o *Owner) bindQuery() string {
	if !o.binds {
		return ""
	}
	return "?" + catalog.BindAccounts + "=true"
}

// Publish makes the text the newest version of the business. mediaType is how the text is written; "" lets catalog
// tell. ifMatch is the header If-Match as the owner sent it, "" for none. Faults: invalid_parameter, with the list
// of manifest.Problem under "problems" in its Extra; precondition_failed; payload_too_large; forbidden for a payment account that
// is not bound to the business.
func (o *Owner) Publish(ctx context.Context, slug string, text []byte, mediaType, ifMatch string) (*catalog.Published, error) {
	header := http.Header{}
	if mediaType != "" {
		header.Set("Content-Type", mediaType)
	}
	if ifMatch != "" {
		header.Set("If-Match", ifMatch)
	}
	request := peer.Request{Method: http.MethodPut, Path: businessPath(slug, o.bindQuery()), Header: header, Body: text}
	return o.published(ctx, request)
}

// Create is Publish of a business's first version. Faults: also precondition_failed where the slug names a business.
func (o *Owner) Create(ctx context.Context, slug string, text []byte, mediaType string) (*catalog.Published, error) {
	header := http.Header{"Content-Type": {mediaType}, "If-None-Match": {"*"}}
	return o.published(ctx, peer.Request{Method: http.MethodPut, Path: businessPath(slug, o.bindQuery()), Header: header, Body: text})
}

func (o *Owner) published(ctx context.Context, request peer.Request) (*catalog.Published, error) {
	response, err := o.peer.Do(ctx, request)
	if err != nil {
		return nil, err
	}
	published := new(catalog.Published)
	if err := json.Unmarshal(response.Body, published); err != nil {
		return nil, fault.Wrap(fault.PeerUnavailable, err, "The catalog service gave an unreadable answer; try again shortly.")
	}
	return published, nil
}

// Compile returns the offer that publishing the text would make, not prepared, and publishes nothing. Faults: invalid_parameter and
// payload_too_large as of [Owner.Publish].
func (o *Owner) Compile(ctx context.Context, slug string, text []byte) (*catalog.Offer, error) {
	return typed.Ask[catalog.Offer](ctx, o.peer, businessPath(slug, "/offer"), text)
}

// Get returns a version of the manifest; version 0 is the newest. accept is the header Accept as the owner sent it: a
// manifest comes as YAML when that prefers it, else as JSON, and always as the very text that was published where that
// was its format. Faults: business_not_found; not_found for an unknown version.
func (o *Owner) Get(ctx context.Context, slug string, version int64, accept string) (*catalog.Manifest, error) {
	path := businessPath(slug, "")
	if version != 0 {
		path += "?version=" + strconv.FormatInt(version, 10)
	}
	header := http.Header{}
	if accept != "" {
		header.Set("Accept", accept)
	}
	response, err := o.peer.Do(ctx, peer.Request{Method: http.MethodGet, Path: path, Header: header})
	if err != nil {
		return nil, err
	}
	return &catalog.Manifest{
		Text: response.Body, MediaType: response.Header.Get("Content-Type"), ETag: response.Header.Get("ETag"),
	}, nil
}

// List returns a page of the businesses with these ids, of all where of is nil, by slug. Faults: invalid_parameter for a bad page, or more
// than [catalog.MostListed] ids.
func (o *Owner) List(ctx context.Context, of []uuid.UUID, page request.Page) (*catalog.BusinessList, error) {
	if of != nil && len(of) == 0 {
		return &catalog.BusinessList{Businesses: []catalog.Business{}}, nil
	}
	query := page.Values()
	for _, id := range of {
		query.Add("id", id.String())
	}
	return typed.Call[catalog.BusinessList](ctx, o.peer, http.MethodGet, "/internal/businesses?"+query.Encode(), nil)
}

// Versions returns a page of a business's history, newest first. Faults: business_not_found; invalid_parameter for a
// bad page.
func (o *Owner) Versions(ctx context.Context, slug string, page request.Page) (*catalog.VersionList, error) {
	return typed.Call[catalog.VersionList](ctx, o.peer, http.MethodGet, businessPath(slug, "/versions")+"?"+page.Values().Encode(), nil)
}

// Rollback publishes an old version again as the newest. ifMatch is as in [Owner.Publish]. Faults: business_not_found; not_found for an
// unknown version; precondition_failed.
func (o *Owner) Rollback(ctx context.Context, slug string, version int64, ifMatch string) (*catalog.Published, error) {
	header := http.Header{}
	if ifMatch != "" {
		header.Set("If-Match", ifMatch)
	}
	return o.published(ctx, peer.Request{Method: http.MethodPost, Path: businessPath(slug, "/rollback"+o.bindQuery()), Header: header, Body: catalog.Rollback{Version: version}})
}

// Delete removes the business with this id, all its versions and its offer. Faults: business_not_found, also where another has the slug by now.
func (o *Owner) Delete(ctx context.Context, slug string, id uuid.UUID) error {
	return o.peer.Call(ctx, http.MethodDelete, businessPath(slug, "?id="+id.String()), nil, nil)
}

func businessPath(slug, rest string) string {
	return fmt.Sprintf("/internal/businesses/%s%s", url.PathEscape(slug), rest)
}
