package endpoints_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

type item struct {
	Slug string    `path:"slug"`
	ID   uuid.UUID `path:"id" unknown:"Thing not found"`
}

type search struct {
	Item     item
	Page     request.Page
	Text     string    `query:"text"`
	Business uuid.UUID `query:"business_id"`
}

type file struct {
	Slug    string `path:"slug"`
	Content []byte `body:"file"`
}

type change struct {
	Name string `json:"name"`
}

var (
	test     = endpoints.NewAPI("test")
	find     = endpoints.Get[search, change](test, "/internal/:slug/things/:id", "pages")
	ask      = endpoints.Ask[change, change](test, "/internal/things", "pages")
	rename   = endpoints.Post[endpoints.With[item, change], change](test, "/internal/:slug/things/:id", owners)
	upload   = endpoints.Post[file, change](test, "/internal/:slug/files", owners)
	forget   = endpoints.Delete[item](test, "/internal/:slug/things/:id", owners)
	owners   = endpoints.By{"console": {actor.Owner}}
	anID     = uuid.MustParse("6f1c2a34-5b6d-4e7f-8a9b-0c1d2e3f4a5b")
	aRequest = search{Item: item{Slug: "har bor/%2e", ID: anID}, Page: request.Page{Limit: 3, Cursor: "c"}, Text: "ü&="}
)

// reading returns the path parameters and the query of a URL in the form in which a server receives them.
func reading(t *rapid.T, e *endpoints.Row, raw string) (func(string) string, request.Query) {
	path, query, _ := strings.Cut(raw, "?")
	sent, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	names, values := strings.Split(e.Path, "/"), strings.Split(path, "/")
	if len(names) != len(values) {
		t.Fatalf("%s has other segments than %s", path, e.Path)
	}
	return func(name string) string {
		for i := range names {
			if names[i] == ":"+name {
				value, err := url.PathUnescape(values[i])
				if err != nil {
					t.Fatal(err)
				}
				return value
			}
		}
		return ""
	}, func(name string) []string { return sent[name] }
}

func TestReadReturnsRequestOfURL(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 8, 40).Filter(func(s string) bool { return !strings.ContainsRune(s, 0) })
		want := search{
			Item: item{Slug: text.Draw(t, "slug"), ID: uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))},
			Page: request.Page{Limit: rapid.IntRange(1, 1000).Draw(t, "limit"), Cursor: text.Draw(t, "cursor")},
			Text: text.Draw(t, "text"), Business: uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "business")),
		}
		var got search
		path, query := reading(t, find.Row, find.URL(&want))
		if err := find.Read(path, query, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestReadRefusesInvalidParameters(t *testing.T) {
	t.Parallel()
	none := func(string) []string { return nil }
	var got search
	err := find.Read(func(string) string { return "x" }, none, &got)
	if !fault.Is(err, fault.NotFound) || fault.Of(err).Sentence != "Thing not found" {
		t.Errorf("an invalid id: %v", err)
	}
	valid := func(string) string { return anID.String() }
	for _, name := range []string{"limit", "business_id"} {
		query := func(asked string) []string { return map[string][]string{name: {"x"}}[asked] }
		if err := find.Read(valid, query, &got); !fault.Is(err, fault.InvalidParameter) ||
			!strings.HasPrefix(fault.Of(err).Sentence, name+": ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// sent is a client that sends nothing and stores the last request.
type sent struct {
	method, path string
	body         any
}

func (s *sent) Call(_ context.Context, method, path string, in, _ any) error {
	*s = sent{method, path, in}
	return nil
}

func (s *sent) Ask(_ context.Context, path string, in, _ any) error {
	*s = sent{"ask", path, in}
	return nil
}

func TestCallSendsRequest(t *testing.T) {
	t.Parallel()
	const path = "/internal/har%20bor%2F%252e/things/6f1c2a34-5b6d-4e7f-8a9b-0c1d2e3f4a5b"
	for name, c := range map[string]struct {
		call func(*sent) error
		want sent
	}{
		"a read": {func(s *sent) error { _, err := find.Call(t.Context(), s, aRequest); return err },
			sent{http.MethodGet, path + "?cursor=c&limit=3&text=%C3%BC%26%3D", nil}},
		"a read with a body": {func(s *sent) error { _, err := ask.Call(t.Context(), s, change{"a"}); return err },
			sent{"ask", "/internal/things", &change{"a"}}},
		"a write": {func(s *sent) error {
			_, err := rename.Call(t.Context(), s, endpoints.With[item, change]{At: aRequest.Item, Body: change{"b"}})
			return err
		}, sent{http.MethodPost, path, &change{"b"}}},
		"a file": {func(s *sent) error {
			_, err := upload.Call(t.Context(), s, file{"harbor", []byte("c")})
			return err
		}, sent{http.MethodPost, "/internal/harbor/files", []byte("c")}},
		"a removal": {func(s *sent) error { return forget.Send(t.Context(), s, aRequest.Item) },
			sent{http.MethodDelete, path, nil}},
	} {
		var got sent
		if err := c.call(&got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(sent{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestDefineRejectsPathWithoutField(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("an endpoint without a field for its path parameter is declared")
		}
	}()
	endpoints.Get[item, change](endpoints.NewAPI("test"), "/internal/:business/:id", "pages")
}

func TestReadsIsFalseForAWrite(t *testing.T) {
	t.Parallel()
	if !find.Reads() || !ask.Reads() || rename.Reads() || forget.Reads() || forget.Status != http.StatusNoContent {
		t.Error("the kind of an endpoint is wrong")
	}
}

func BenchmarkURL(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_ = find.URL(&aRequest)
	}
}
