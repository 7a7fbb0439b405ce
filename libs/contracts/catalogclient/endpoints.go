package catalogclient

import (
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/contracts/eventclient"
	"github.com/slotmesh/slotmesh/libs/platform/request"
)

// API is the internal API of the catalog service.
var API = endpoints.NewAPI("catalog").WithoutBookings()

const (
	public   = "/internal/api/public/:slug"
	business = "/internal/businesses/:slug"
)

var owner = endpoints.By{"console": {actor.Owner}}

// The endpoints of [API]. The functions and methods of this package document the endpoints that they call.
var (
	Events = eventclient.Declare(API)

	ReadOffer = endpoints.Get[endpoints.OfSlug, catalog.Snapshot](API, "/internal/offers/:slug",
		"pricing", "availability", "booking", "rental", "notifications", "pages", "console")
	FindSlug = endpoints.Get[BusinessID, catalog.SlugOf](API, "/internal/slugs/:id",
		"booking", "rental", "mcp", "notifications")
	ListRemoved = endpoints.Get[RemovedRequest, catalog.RemovedList](API, "/internal/removed",
		"booking", "rental", "notifications", "console")

	ReadInfo     = endpoints.Get[endpoints.OfSlug, json.RawMessage](API, public+"/info", "mcp", "pages")
	ListServices = endpoints.Get[endpoints.OfSlug, json.RawMessage](API, public+"/services", "mcp", "pages")
	ListStaff    = endpoints.Get[endpoints.OfSlug, json.RawMessage](API, public+"/staff", "mcp", "pages")
	ListEvents   = endpoints.Get[endpoints.OfSlug, json.RawMessage](API, public+"/events", "mcp", "pages")
	ListRentals  = endpoints.Get[endpoints.OfSlug, json.RawMessage](API, public+"/rentals", "mcp", "pages")

	ListBusinesses = endpoints.Get[BusinessesRequest, catalog.BusinessList](API, "/internal/businesses", "console")
	ReadManifest   = endpoints.Get[ManifestRequest, []byte](API, business, "console")
	Publish        = endpoints.Define[Publication[[]byte], catalog.Published](API, http.MethodPut, business, owner)
	Remove         = endpoints.Delete[OfBusiness](API, business, owner)
	ListVersions   = endpoints.Get[PageRequest, catalog.VersionList](API, business+"/versions", "console")
	Rollback       = endpoints.Post[Publication[catalog.Rollback], catalog.Published](API, business+"/rollback", owner)
	Compile        = endpoints.Ask[File[endpoints.OfSlug], catalog.Snapshot](API, business+"/offer", "console")

	ListPictures    = endpoints.Get[PageRequest, catalog.PictureList](API, business+"/media", "console")
	ReadPictureFile = endpoints.Get[PictureFileRequest, []byte](API, "/internal/media/:file", "console", "notifications")
	AddPicture      = endpoints.Post[File[OfBusiness], catalog.UploadedPicture](API, business+"/media",
		owner).Answers(http.StatusCreated)
	DeletePicture = endpoints.Delete[PictureID](API, business+"/media/:id", owner)
)

// BusinessID identifies a business by its id.
type BusinessID struct {
	ID uuid.UUID `path:"id"`
}

// OfBusiness identifies a business by its slug. If ID is not the nil UUID, the business with the slug must have this
// id. Otherwise the fault is business_not_found.
type OfBusiness struct {
	Slug string    `path:"slug"`
	ID   uuid.UUID `query:"id"`
}

// File is a request whose body is a file, which is sent unchanged.
type File[At any] struct {
	At   At
	File []byte `body:"file"`
}

// RemovedRequest requests the businesses that were removed at or before the instant Before, in RFC 3339.
type RemovedRequest struct {
	Before string `query:"before"`
	request.Page
}

// BusinessesRequest requests one page of the businesses with the given ids, or of all businesses.
type BusinessesRequest struct {
	request.Page
	IDs
}

// IDs are the query parameters `id`. If there is none, all businesses match.
type IDs []uuid.UUID

// Values returns the query parameters to send.
func (ids IDs) Values() url.Values {
	query := url.Values{}
	for _, id := range ids {
		query.Add("id", id.String())
	}
	return query
}

// ReadQuery reads the ids. Fault: invalid_parameter if there are
// more than [catalog.MaxListed] ids or if one of them is invalid.
func (ids *IDs) ReadQuery(q request.Query) error {
	texts := q("id")
	if len(texts) > catalog.MaxListed {
		return request.TooMany("id", catalog.MaxListed)
	}
	for _, text := range texts {
		id, err := request.ID("id", text)
		if err != nil {
			return err
		}
		*ids = append(*ids, id)
	}
	return nil
}

// ManifestRequest requests a version of a manifest. Version is a number in decimal; "" means the newest version.
type ManifestRequest struct {
	Slug    string `path:"slug"`
	Version string `query:"version"`
}

// Publication requests a new version of a business. BindAccounts is "true" to
// bind the payment accounts in the manifest to the business, and otherwise "".
type Publication[Body any] struct {
	Slug         string `path:"slug"`
	BindAccounts string `query:"bind_accounts"`
	Body         Body   `body:"json"`
}

// PageRequest requests one page of a list about a business.
type PageRequest struct {
	Slug string `path:"slug"`
	request.Page
}

// PictureFileRequest requests a picture's file by its name.
type PictureFileRequest struct {
	File string `path:"file"`
}

// PictureID identifies a picture of a business.
type PictureID struct {
	OfBusiness
	Picture string `path:"id"`
}
