package endpoints

import (
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Query is implemented by groups of query parameters.
type Query interface {
	// Values returns the query parameters to send.
	Values() url.Values
	// ReadQuery sets the fields from the query parameters of a request. Faults: invalid_parameter.
	ReadQuery(q request.Query) error
}

// plan describes which fields of a request's Go type hold its
// parameters and its body. It is computed once per endpoint.
type plan struct {
	constant string // the path, if it has no parameters
	segments []segment
	fields   []field // fields of the path and the query, in the order of the struct
	body     []int   // index of the field with the body; nil if there is none
	whole    bool    // reports that the whole request is the body
}

// segment is one segment of a path. It is either the fixed text in the field `text`, or
// the value of a field of the request. The field `at` holds the index of this field.
type segment struct {
	text string
	at   []int
}

// field is the struct field of one parameter, or of a group of query parameters.
type field struct {
	at      []int
	name    string // "" for a group of query parameters
	inQuery bool
	unknown string // message of the fault not_found for an invalid id
}

func isNone[T any]() bool { return reflect.TypeFor[T]() == reflect.TypeFor[None]() }

// compile computes the plan of an endpoint. It panics if the path has a parameter for which Req has no field.
func compile[Req any](method, path string) *plan {
	p, t := new(plan), reflect.TypeFor[Req]()
	if t.Kind() == reflect.Struct {
		p.collect(t, nil)
	}
	p.whole = len(p.fields) == 0 && p.body == nil && method != http.MethodGet && !isNone[Req]()
	if !strings.Contains(path, ":") {
		p.constant = path
	}
	for part := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		name, isParameter := strings.CutPrefix(part, ":")
		if !isParameter {
			p.segments = append(p.segments, segment{text: "/" + part})
			continue
		}
		i := slices.IndexFunc(p.fields, func(f field) bool { return f.name == name && !f.inQuery })
		if i < 0 {
			panic(fmt.Sprintf("%s %s: %s has no field for the parameter %s", method, path, t, name))
		}
		p.segments = append(p.segments, segment{text: "/", at: p.fields[i].at})
	}
	return p
}

// collect adds the fields of the struct type `t` to the plan. The
// argument `above` is the index of this struct in the request.
func (p *plan) collect(t reflect.Type, above []int) {
	for i := range t.NumField() {
		f := t.Field(i)
		at := append(slices.Clone(above), i)
		name, inPath := f.Tag.Lookup("path")
		query, inQuery := f.Tag.Lookup("query")
		_, isBody := f.Tag.Lookup("body")
		switch {
		case inPath || inQuery:
			p.fields = append(p.fields,
				field{at: at, name: name + query, inQuery: inQuery, unknown: f.Tag.Get("unknown")})
		case isBody:
			p.body = at
		case reflect.PointerTo(f.Type).Implements(reflect.TypeFor[Query]()):
			p.fields = append(p.fields, field{at: at, inQuery: true})
		case f.Type.Kind() == reflect.Struct && f.IsExported() && f.Tag.Get("json") == "":
			p.collect(f.Type, at)
		}
	}
}

// URL returns the path of a request with its query parameters.
func (e Endpoint[Req, Out]) URL(req *Req) string {
	if e.plan.constant != "" && len(e.plan.fields) == 0 {
		return e.plan.constant
	}
	v := reflect.ValueOf(req).Elem()
	var path strings.Builder
	for _, s := range e.plan.segments {
		path.WriteString(s.text)
		if s.at != nil {
			path.WriteString(url.PathEscape(textOf(v.FieldByIndex(s.at))))
		}
	}
	query := url.Values{}
	for _, f := range e.plan.fields {
		value := v.FieldByIndex(f.at)
		switch {
		case f.name == "":
			for name, values := range groupOf(value).Values() {
				query[name] = append(query[name], values...)
			}
		case f.inQuery && !value.IsZero():
			query.Set(f.name, textOf(value))
		}
	}
	if len(query) > 0 {
		path.WriteString("?" + query.Encode())
	}
	return path.String()
}

// Body returns a pointer to the body of a request. It returns nil if requests to the endpoint have no body.
func (e Endpoint[Req, Out]) Body(req *Req) any {
	switch {
	case e.plan.whole:
		return req
	case e.plan.body != nil:
		return reflect.ValueOf(req).Elem().FieldByIndex(e.plan.body).Addr().Interface()
	}
	return nil
}

// Read sets the fields of req from the path parameters and the query parameters. Faults: invalid_parameter; not_found.
func (e Endpoint[Req, Out]) Read(path func(name string) string, query request.Query, req *Req) error {
	if len(e.plan.fields) == 0 {
		return nil
	}
	v := reflect.ValueOf(req).Elem()
	for _, f := range e.plan.fields {
		if err := f.read(path, query, v.FieldByIndex(f.at)); err != nil {
			return err
		}
	}
	return nil
}

func (f *field) read(path func(name string) string, query request.Query, into reflect.Value) error {
	if f.name == "" {
		return groupOf(into).ReadQuery(query)
	}
	if !f.inQuery {
		return f.set(into, path(f.name))
	}
	text, err := query.Text(f.name)
	if err != nil || text == "" {
		return err
	}
	return f.set(into, text)
}

// set parses the text of a parameter and stores the value in the field.
func (f *field) set(into reflect.Value, text string) error {
	id, isID := into.Addr().Interface().(*uuid.UUID)
	if !isID {
		into.SetString(strings.Clone(text)) // the server reuses the memory of text
		return nil
	}
	parsed, err := request.ID(f.name, text)
	if err != nil && f.unknown != "" {
		return fault.New(fault.NotFound, f.unknown)
	}
	*id = parsed
	return err
}

func groupOf(v reflect.Value) Query {
	group, _ := v.Addr().Interface().(Query) // always succeeds: collect has checked the type
	return group
}

func textOf(v reflect.Value) string {
	if id, ok := v.Interface().(uuid.UUID); ok {
		return id.String()
	}
	return v.String()
}
