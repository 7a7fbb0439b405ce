// Package consoletest runs console in tests with fakes of the services that console calls, such as catalog, booking and
// rental. Each fake is an HTTP server that keeps its data in memory. Each fake serves those requests of a service's
// internal API that console sends, with the types of libs/platform/peer. A fake returns the same faults as the real
// service. The comments of the service's client in libs list these faults.
//
// Console does not import the real services, because each service is a separate Go module. The end-to-end tests of
// services/allinone check that the fakes behave like the real services: these tests send the requests of console's
// tests to the real services. They also validate each request and response of the admin API against the OpenAPI
// document of the admin API.
package consoletest

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Epoch is the creation time of all objects in the fakes.
var Epoch = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

// Catalog is a fake of the catalog service that keeps manifests in memory.
type Catalog struct {
	Events
	mu            sync.Mutex
	businesses    map[string][]version               // versions of each business by slug, oldest first
	keys          []string                           // Idempotency-Keys of all requests to publish
	pictures      map[string]catalog.UploadedPicture // by id, of all businesses
	beforePublish func()                             // function to call before the next publishing or rollback
	afterSnapshot func()                             // function to call after the next read of an offer
	showsStaff    bool                               // true if the fake returns offers with their staff
	removed       map[string]bool                    // completed removals, by slug and Idempotency-Key
}

// ListKeys returns the Idempotency-Keys of all requests to publish that the fake has received.
func (s *Catalog) ListKeys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.keys)
}

// SetBeforePublish stores the function `do`, which the fake calls once, before it handles the next publishing or
// rollback.
func (s *Catalog) SetBeforePublish(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.beforePublish = do
}

// ShowStaff makes the fake return offers with their staff in later requests.
func (s *Catalog) ShowStaff() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.showsStaff = true
}

// SetAfterSnapshot stores the function `do`, which the fake calls once, after it has handled the next request to read
// an offer.
func (s *Catalog) SetAfterSnapshot(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.afterSnapshot = do
}

// Put publishes a valid manifest in the fake without a request. Call Put only in functions that are passed to
// [Catalog.SetBeforePublish] or [Catalog.SetAfterSnapshot]. The fake is already locked while these functions run, and
// Put itself does not lock the fake.
func (s *Catalog) Put(slug, text string) {
	m, _ := manifest.Parse([]byte(text))
	canonical, err := json.Marshal(m)
	if err != nil {
		panic(err) // cannot happen, because the manifest was parsed
	}
	s.businesses[slug] = append(s.businesses[slug], version{m.BusinessID(), string(m.Name), catalog.MediaYAML,
		[]byte(text), canonical})
}

type version struct {
	id        uuid.UUID
	name      string
	mediaType string
	text      []byte
	canonical []byte
}

// Handler serves catalog's internal API.
func (s *Catalog) Handler() http.Handler {
	mux := http.NewServeMux()
	for pattern, answer := range map[string]func(*http.Request) (*reply, error){
		"GET /internal/removed": func(*http.Request) (*reply, error) {
			return newReply(catalog.RemovedList{IDs: []uuid.UUID{}})
		},
		"PUT /internal/businesses/{slug}": func(r *http.Request) (*reply, error) {
			s.keys = append(s.keys, r.Header.Values("Idempotency-Key")...)
			return s.publish(r)
		},
		"GET /internal/businesses/{slug}":               s.getManifest,
		"DELETE /internal/businesses/{slug}":            s.removeBusiness,
		"GET /internal/businesses":                      s.listBusinesses,
		"GET /internal/businesses/{slug}/versions":      s.listVersions,
		"POST /internal/businesses/{slug}/rollback":     s.rollback,
		"POST /internal/businesses/{slug}/offer":        s.compile,
		"GET /internal/businesses/{business}/events":    s.listEvents,
		"GET /internal/offers/{slug}":                   s.getSnapshot,
		"POST /internal/businesses/{slug}/media":        s.addPicture,
		"GET /internal/businesses/{slug}/media":         s.listPictures,
		"DELETE /internal/businesses/{slug}/media/{id}": s.deletePicture,
		"GET /internal/media/{file}":                    s.getPictureFile,
	} {
		mux.Handle(pattern, serveLocked(&s.mu, answer))
	}
	return mux
}

// reply is a response of a fake. The body of the response is the field `body`, or the field `value` encoded as JSON.
type reply struct {
	status int
	header map[string]string
	body   []byte
	value  any
}

func serveLocked(mu *sync.Mutex, answer func(*http.Request) (*reply, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		given, err := answer(r)
		if err != nil {
			f := fault.Of(err)
			w.WriteHeader(f.Kind.Status)
			_, _ = w.Write(f.Body())
			return
		}
		for name, value := range given.header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(given.status)
		if given.value != nil {
			_ = json.NewEncoder(w).Encode(given.value)
			return
		}
		_, _ = w.Write(given.body)
	})
}

func newReply(value any) (*reply, error) { return &reply{status: http.StatusOK, value: value}, nil }

func (s *Catalog) publish(r *http.Request) (*reply, error) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	m, problems := manifest.Parse(text)
	if len(problems) > 0 {
		f := fault.New(fault.InvalidParameter, "The manifest is not valid.")
		f.Extra = map[string]any{"problems": problems}
		return nil, f
	}
	canonical, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return s.addVersion(r, version{m.BusinessID(), string(m.Name), r.Header.Get("Content-Type"), text, canonical})
}

// compile returns the offer that would be created if the manifest in the request were published.
func (s *Catalog) compile(r *http.Request) (*reply, error) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	m, problems := manifest.Parse(text)
	if len(problems) > 0 {
		return nil, manifest.Invalid(problems)
	}
	return newReply(newSnapshot(m, r.PathValue("slug"), 1))
}

// newSnapshot returns the published offer of a manifest. The result has only those parts of an offer that console
// reads.
func newSnapshot(m *manifest.Manifest, slug string, version int64) catalog.Snapshot {
	o := catalog.Snapshot{
		ID: m.BusinessID(), Slug: slug, Version: version, Currency: string(m.Currency), Timezone: string(m.Timezone),
		Modules: catalog.Modules{Services: m.UsesServices(), Events: m.UsesEvents(), Rentals: m.UsesRentals()},
		Account: catalog.Account{SubscriptionActive: m.HasActiveSubscription(), RemovalOn: m.RemovalOn(),
			Sandbox: m.IsSandbox()},
		Privacy:    catalog.Privacy{KeepCustomersDays: m.KeepCustomersDays()},
		NotYetOpen: !m.IsOpen(),
	}
	for i := range m.Events {
		e := &m.Events[i]
		event := catalog.Event{ID: e.ObjectID(o.ID), Key: string(e.Key), Name: string(e.Name), Date: e.Date,
			Start: e.StartTime, Active: e.IsActive(), TotalCapacity: e.TotalCapacity}
		for k := range e.Tiers {
			event.Tiers = append(event.Tiers, catalog.Tier{ID: e.Tiers[k].ObjectID(o.ID, e.Key),
				Name: string(e.Tiers[k].Name), Capacity: e.Tiers[k].Capacity})
		}
		o.Events = append(o.Events, event)
	}
	for i := range m.Services {
		o.Services = append(o.Services, catalog.Service{ID: m.Services[i].ObjectID(o.ID), Key: string(m.Services[i].Key),
			Name: string(m.Services[i].Name), Active: m.Services[i].IsActive()})
	}
	for i := range m.Locations {
		l := &m.Locations[i]
		o.Locations = append(o.Locations, catalog.Location{ID: l.ObjectID(o.ID), Kind: l.Kind,
			Name: catalog.Label{Text: string(l.Name)}})
	}
	for i := range m.Rentals {
		o.Rentals = append(o.Rentals, catalog.Rental{ID: m.Rentals[i].ObjectID(o.ID), Key: string(m.Rentals[i].Key),
			Name: string(m.Rentals[i].Name)})
	}
	return o
}

func (s *Catalog) addVersion(r *http.Request, v version) (*reply, error) {
	if do := s.beforePublish; do != nil {
		s.beforePublish = nil
		do()
	}
	slug := r.PathValue("slug")
	if known := r.Header.Get("If-Match"); known != "" && known != formatETag(len(s.businesses[slug])) {
		return nil, fault.Newf(fault.PreconditionFailed, "If-Match: the newest version is %d, not %s; read it and "+
			"try again.", len(s.businesses[slug]), strings.Trim(known, `"`))
	}
	if r.Header.Get("If-None-Match") == "*" && len(s.businesses[slug]) > 0 {
		return nil, fault.New(fault.PreconditionFailed, "It is published.")
	}
	for other, known := range s.businesses {
		if len(known) > 0 && (other == slug) != (known[0].id == v.id) {
			return nil, manifest.Invalid([]manifest.Problem{{Path: "id", Message: "each business has an id of its own"}})
		}
	}
	if s.businesses == nil {
		s.businesses = map[string][]version{}
	}
	s.businesses[slug] = append(s.businesses[slug], v)
	n := len(s.businesses[slug])
	return newReply(catalog.Published{ID: v.id, Slug: slug, Version: int64(n), Created: n == 1})
}

func formatETag(version int) string { return strconv.Quote(strconv.Itoa(version)) }

func (s *Catalog) findVersion(r *http.Request, number string) (*version, int, error) {
	versions := s.businesses[r.PathValue("slug")]
	if len(versions) == 0 {
		return nil, 0, fault.New(fault.BusinessNotFound, "Business not found")
	}
	if number == "" {
		return &versions[len(versions)-1], len(versions), nil
	}
	n, err := strconv.Atoi(number)
	if err != nil || n > len(versions) {
		return nil, 0, fault.New(fault.NotFound, "Version not found")
	}
	return &versions[n-1], n, nil
}

func (s *Catalog) getManifest(r *http.Request) (*reply, error) {
	v, n, err := s.findVersion(r, r.URL.Query().Get("version"))
	if err != nil {
		return nil, err
	}
	text, mediaType := v.canonical, catalog.MediaJSON
	if v.mediaType == r.Header.Get("Accept") {
		text, mediaType = v.text, v.mediaType
	}
	return &reply{status: http.StatusOK, body: text, header: map[string]string{"Content-Type": mediaType,
		"ETag": formatETag(n)}}, nil
}

func (s *Catalog) getSnapshot(r *http.Request) (*reply, error) {
	v, n, err := s.findVersion(r, "")
	if err != nil {
		return nil, err
	}
	if do := s.afterSnapshot; do != nil {
		s.afterSnapshot = nil
		defer do()
	}
	m, _ := manifest.Parse(v.canonical)
	o := newSnapshot(m, r.PathValue("slug"), int64(n))
	for i := range m.Staff {
		if s.showsStaff {
			o.Staff = append(o.Staff, catalog.Staff{ID: m.Staff[i].ObjectID(o.ID), Key: string(m.Staff[i].Key),
				Name: string(m.Staff[i].Name), Active: m.Staff[i].IsActive()})
		}
	}
	return newReply(o)
}

func (s *Catalog) removeBusiness(r *http.Request) (*reply, error) {
	slug, key := r.PathValue("slug"), r.Header.Get("Idempotency-Key")
	if s.removed[slug+" "+key] {
		return &reply{status: http.StatusNoContent}, nil
	}
	v, _, err := s.findVersion(r, "")
	if err != nil {
		return nil, err
	}
	if r.URL.Query().Get("id") != v.id.String() {
		return nil, fault.New(fault.BusinessNotFound, "Business not found")
	}
	delete(s.businesses, slug)
	if key != "" {
		s.removed = map[string]bool{slug + " " + key: true}
	}
	return &reply{status: http.StatusNoContent}, nil
}

func (s *Catalog) listBusinesses(r *http.Request) (*reply, error) {
	var all []catalog.Business
	for slug, versions := range s.businesses {
		v := versions[len(versions)-1]
		if of := r.URL.Query()["id"]; len(of) > 0 && !slices.Contains(of, v.id.String()) {
			continue
		}
		all = append(all, catalog.Business{ID: v.id, Slug: slug, Name: v.name, Version: int64(len(versions)),
			UpdatedAt: Epoch})
	}
	slices.SortFunc(all, func(a, b catalog.Business) int { return cmp.Compare(a.Slug, b.Slug) })
	entries, next := cutPage(r, all)
	return newReply(catalog.BusinessList{Businesses: entries, NextCursor: next})
}

func (s *Catalog) listVersions(r *http.Request) (*reply, error) {
	_, newest, err := s.findVersion(r, "")
	if err != nil {
		return nil, err
	}
	var all []catalog.Version
	for n := newest; n > 0; n-- {
		all = append(all, catalog.Version{Version: int64(n), PublishedAt: Epoch})
	}
	entries, next := cutPage(r, all)
	return newReply(catalog.VersionList{Versions: entries, NextCursor: next})
}

// pictureRefusals maps the content of a file to the sentence with which the fake refuses it.
var pictureRefusals = map[string]string{
	"<svg/>": catalog.PictureIsSVG, "heic": catalog.PictureIsHEIC, "damaged": "The GIF file is damaged or incomplete.",
	"pixels": catalog.PictureHasTooManyPixels,
}

func (s *Catalog) addPicture(r *http.Request) (*reply, error) {
	file, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(file, []byte("GIF")):
	case string(file) == "many":
		return nil, fault.New(fault.Conflict, "The business has as many pictures as it may.")
	case string(file) == "off":
		return nil, fault.New(fault.Conflict, catalog.NoPictureStore)
	default:
		return nil, fault.New(fault.InvalidParameter, "file: "+cmp.Or(pictureRefusals[string(file)],
			catalog.PictureHasOtherFormat))
	}
	added := catalog.UploadedPicture{
		Picture: catalog.Picture{ID: fmt.Sprintf("%x", sha256.Sum256(file)), Width: 30, Height: 20, Colour: "#c8c8c8"},
		MIME:    "image/gif", Bytes: int64(len(file)), CreatedAt: Epoch,
	}
	if s.pictures == nil {
		s.pictures = map[string]catalog.UploadedPicture{}
	}
	s.pictures[added.ID] = added
	return &reply{status: http.StatusCreated, value: added}, nil
}

func (s *Catalog) listPictures(r *http.Request) (*reply, error) {
	ids := slices.Sorted(maps.Keys(s.pictures))
	all := make([]catalog.UploadedPicture, len(ids))
	for i, id := range ids {
		all[i] = s.pictures[id]
	}
	entries, next := cutPage(r, all)
	return newReply(catalog.PictureList{Pictures: entries, NextCursor: next})
}

// getPictureFile returns the name of the file as its content.
func (s *Catalog) getPictureFile(r *http.Request) (*reply, error) {
	id, _, _, _ := catalog.ParsePictureFile(r.PathValue("file"))
	if _, has := s.pictures[id]; !has {
		return nil, fault.New(fault.NotFound, "Picture not found")
	}
	return &reply{status: http.StatusOK, body: []byte(r.PathValue("file"))}, nil
}

func (s *Catalog) deletePicture(r *http.Request) (*reply, error) {
	if _, has := s.pictures[r.PathValue("id")]; !has {
		return nil, fault.New(fault.NotFound, "Picture not found")
	}
	delete(s.pictures, r.PathValue("id"))
	return &reply{status: http.StatusNoContent}, nil
}

func (s *Catalog) rollback(r *http.Request) (*reply, error) {
	var to catalog.Rollback
	if err := json.NewDecoder(r.Body).Decode(&to); err != nil {
		return nil, err
	}
	v, _, err := s.findVersion(r, strconv.FormatInt(to.Version, 10))
	if err != nil {
		return nil, err
	}
	return s.addVersion(r, *v)
}
