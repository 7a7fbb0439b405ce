package e2e

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slotmesh/slotmesh/libs/platform/openapi"
	slotmesh "github.com/slotmesh/slotmesh/services/catalog/sdk/go"
)

// documentedTypes is the part of an OpenAPI document that a client library must match.
type documentedTypes struct {
	Info       struct{ Version string }
	Paths      map[string]map[string]json.RawMessage
	Components struct {
		Schemas    map[string]*shape
		Parameters map[string]parameter
	}
}

// parameter is a parameter of an operation.
type parameter struct {
	Ref  string `json:"$ref"`
	Name string
	In   string
}

// shape is a schema of an OpenAPI document.
type shape struct {
	Ref                  string `json:"$ref"`
	Type                 json.RawMessage
	Format               string
	Required             []string
	Properties           map[string]*shape
	Items                *shape
	AdditionalProperties json.RawMessage
	OneOf                []*shape
	Examples             []any
}

// readDescribed reads a YAML document of the repository.
func readDescribed(t *testing.T, path string) *documentedTypes {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(findRepository(), path))
	if err != nil {
		t.Fatal(err)
	}
	text, err := openapi.JSON(source)
	if err != nil {
		t.Fatal(err)
	}
	var d documentedTypes
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return &d
}

const publicDocument = "services/catalog/internal/docs/public.yaml"

// TestGoSDKTypesMatchDocument shows that the Go SDK has exactly the fields of the document. Each field has a type that
// accepts all values that the document allows.
func TestGoSDKTypesMatchDocument(t *testing.T) {
	t.Parallel()
	d := readDescribed(t, publicDocument)
	if d.Info.Version != slotmesh.APIVersion || !strings.HasPrefix(slotmesh.Version, slotmesh.APIVersion+".") {
		t.Errorf("the document has version %s, the SDK %s for %s", d.Info.Version, slotmesh.Version,
			slotmesh.APIVersion)
	}
	for _, of := range []any{
		slotmesh.BusinessInfo{}, slotmesh.ServiceList{}, slotmesh.StaffList{}, slotmesh.EventList{},
		slotmesh.RentalList{}, slotmesh.SlotList{},
		slotmesh.AvailableDates{}, slotmesh.RentalAvailability{}, slotmesh.RentalDates{}, slotmesh.BookingRequest{},
		slotmesh.BookingConfirmation{},
	} {
		typ := reflect.TypeOf(of)
		d.checkType(t, typ.Name(), typ, d.Components.Schemas[typ.Name()],
			agreement{sent: typ.Name() == "BookingRequest"})
	}
	var codes []any
	for _, c := range slotmesh.Codes() {
		codes = append(codes, string(c))
	}
	if documented := d.Components.Schemas["Error"].Properties["messageCode"].Examples; len(codes) == 0 ||
		!slices.Equal(codes, documented) {
		t.Errorf("the SDK has the codes %v, the document %v", codes, documented)
	}
	admin := readDescribed(t, "services/console/internal/api/admin.yaml")
	admin.checkType(t, "WebhookBooking", reflect.TypeFor[slotmesh.WebhookBooking](),
		admin.Components.Schemas["Booking"],
		agreement{part: true})
}

// agreement has the requirements for a type. If `sent` is true, the type must omit optional fields without a value. If
// `part` is true, the type may lack fields of the schema.
type agreement struct{ sent, part bool }

// checkType compares a type with a schema.
func (d *documentedTypes) checkType(t *testing.T, at string, typ reflect.Type, s *shape, how agreement) {
	t.Helper()
	for s != nil && s.Ref != "" {
		s = d.Components.Schemas[s.Ref[strings.LastIndex(s.Ref, "/")+1:]]
	}
	if s == nil {
		t.Errorf("%s is not in the document", at)
		return
	}
	if i := slices.IndexFunc(s.OneOf, func(one *shape) bool { return one.Ref != "" }); i >= 0 { // an object or null
		d.checkType(t, at, typ, s.OneOf[i], how)
		return
	}
	if s.OneOf != nil {
		fits := func(one *shape) bool {
			return kinds[one.kind()] == typ.Kind() || one.kind() == "array" && typ == reflect.TypeFor[slotmesh.List]()
		}
		if !slices.ContainsFunc(s.OneOf, fits) {
			t.Errorf("%s is %s, which the document does not permit", at, typ)
		}
		return
	}
	nullable := strings.Contains(string(s.Type), `"null"`)
	kind := s.kind()
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	} else if nullable && !how.sent && (kind == "integer" || kind == "number" || kind == "boolean") {
		t.Errorf("%s may be null, which %s reads as a value", at, typ)
	}
	switch {
	case s.Format == "date-time" && typ == reflect.TypeFor[time.Time]():
	case kind == "object" && s.Properties != nil:
		d.checkFields(t, at, typ, s, how)
	case kinds[kind] != typ.Kind():
		t.Errorf("%s is %s, and %s in the document", at, typ, kind)
	case kind == "array":
		d.checkType(t, at+"[]", typ.Elem(), s.Items, how)
	case kind == "object":
		var values shape
		if json.Unmarshal(s.AdditionalProperties, &values) == nil { // the value true allows anything
			d.checkType(t, at+"{}", typ.Elem(), &values, how)
		}
	}
}

// kinds maps the types of JSON schemas to kinds of Go types.
var kinds = map[string]reflect.Kind{
	"string": reflect.String, "integer": reflect.Int, "number": reflect.Float64, "boolean": reflect.Bool,
	"array": reflect.Slice, "object": reflect.Map,
}

// kind returns the JSON type of a value that is not null.
func (s *shape) kind() string {
	for kind := range kinds {
		if strings.Contains(string(s.Type), `"`+kind+`"`) {
			return kind
		}
	}
	return ""
}

func (d *documentedTypes) checkFields(t *testing.T, at string, typ reflect.Type, s *shape, how agreement) {
	t.Helper()
	if typ.Kind() != reflect.Struct {
		t.Errorf("%s is %s, and an object of fields in the document", at, typ)
		return
	}
	missing := maps.Clone(s.Properties)
	for field := range typ.Fields() {
		name, rest, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if s.Properties[name] == nil {
			t.Errorf("%s.%s is not in the document", at, name)
			continue
		}
		if required := slices.Contains(s.Required, name); how.sent && required == (rest == "omitempty") {
			t.Errorf("%s.%s: required is %t, and its tag says %q", at, name, required, rest)
		}
		d.checkType(t, at+"."+name, field.Type, s.Properties[name], how)
		delete(missing, name)
	}
	if len(missing) > 0 && !how.part {
		t.Errorf("%s lacks %q", at, slices.Sorted(maps.Keys(missing)))
	}
}

// answerFunc is a transport that passes each request to the function and answers with an empty object.
type answerFunc func(*http.Request)

func (f answerFunc) RoundTrip(r *http.Request) (*http.Response, error) {
	f(r)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")),
		Request: r}, nil
}

// TestGoSDKSendsDocumentedRequests shows that the Go SDK requests every path of the document with the names of all its
// query parameters.
func TestGoSDKSendsDocumentedRequests(t *testing.T) {
	t.Parallel()
	d, asked := readDescribed(t, publicDocument), make(map[string][]string)
	c, err := slotmesh.New("https://book.example", "slug",
		slotmesh.WithHTTPClient(&http.Client{Transport: answerFunc(func(r *http.Request) {
			asked[strings.ToLower(r.Method)+" "+strings.Replace(r.URL.Path, "/slug/", "/{slug}/",
				1)] = slices.Sorted(maps.Keys(r.URL.Query()))
		})}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, two := t.Context(), slotmesh.List{"a", "b"}
	_, err1 := c.GetInfo(ctx)
	_, err2 := c.ListServices(ctx, slotmesh.ListServicesParams{Locale: "pt", Date: "2027-03-01"})
	_, err3 := c.ListStaff(ctx, slotmesh.ListStaffParams{ServiceID: "a", Locale: "pt"})
	_, err4 := c.ListEvents(ctx, slotmesh.ListEventsParams{Locale: "pt"})
	_, err5 := c.ListRentals(ctx, slotmesh.ListRentalsParams{Locale: "pt", Date: "2027-03-01"})
	_, err6 := c.ListSlots(ctx, slotmesh.ListSlotsParams{Date: "2027-03-01", ServiceID: two, StaffID: "c",
		IsPackage: true, StaffingMode: "per_service", Variants: slotmesh.List{"a:d"}, LocationID: "e"})
	_, err7 := c.ListAvailableDates(ctx, slotmesh.ListAvailableDatesParams{Start: "2027-03-01", End: "2027-03-02",
		ServiceID: two, StaffID: "c", IsPackage: true, StaffingMode: "per_service", Variants: slotmesh.List{"a:d"},
		LocationID: "e"})
	_, err8 := c.CheckRental(ctx, slotmesh.CheckRentalParams{
		RentalID: "a", StartDate: "2027-03-01", EndDate: "2027-03-01", StartTime: "10:00", EndTime: "24:00",
		Quantity: 2, Lang: "de",
	})
	_, err9 := c.ListRentalDates(ctx, slotmesh.ListRentalDatesParams{Start: "2027-03-01", End: "2027-03-02",
		RentalID: two})
	_, err10 := c.Book(ctx, "", slotmesh.BookingRequest{})
	for _, err := range []error{err1, err2, err3, err4, err5, err6, err7, err8, err9, err10} {
		if err != nil {
			t.Error(err)
		}
	}
	for path, operations := range d.Paths {
		for method := range operations {
			if !strings.HasPrefix(path, "/api/public/{slug}/") || method == "parameters" {
				continue
			}
			var operation struct{ Parameters []parameter }
			if err := json.Unmarshal(operations[method], &operation); err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, p := range operation.Parameters {
				if p.Ref != "" {
					p = d.Components.Parameters[p.Ref[strings.LastIndex(p.Ref, "/")+1:]]
				}
				if p.In == "query" {
					names = append(names, p.Name)
				}
			}
			slices.Sort(names)
			if got, has := asked[method+" "+path]; !has || !slices.Equal(got, names) {
				t.Errorf("%s %s was asked (%t) with %q; the document has %q", method, path, has, got, names)
			}
		}
	}
}
