package store_test

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/catalog/internal/store"
	"github.com/slotmesh/slotmesh/services/catalog/migrations"
)

var (
	noon        = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	harbor      = uuid.MustParse("0c0c35a6-4a3c-5d6c-9a5f-5a3f5f6f0001")
	harborAgain = uuid.MustParse("0c0c35a6-4a3c-5d6c-9a5f-5a3f5f6f0003")
	quay        = uuid.MustParse("0c0c35a6-4a3c-5d6c-9a5f-5a3f5f6f0002")
)

func openStore(t *testing.T) *store.Store {
	t.Helper()
	return store.New(testkit.Postgres(t, "catalog", migrations.FS))
}

func newContent(id uuid.UUID, name string) store.Content {
	return store.Content{
		BusinessID: id, Name: name, Format: store.YAML,
		Source: []byte("# " + name + "\r\nname: x\n"), Canonical: []byte(`{"name":"` + name + `"}`),
	}
}

func publish(t *testing.T, s *store.Store, slug string, c store.Content) store.Published {
	t.Helper()
	p, err := s.Publish(testkit.AsSystem(t), slug, c, nil, false, noon)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// runConcurrently makes n calls at the same time and returns their errors in order.
func runConcurrently(n int, call func(i int) error) []error {
	errs := make([]error, n)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			<-start
			errs[i] = call(i)
		})
	}
	close(start)
	wg.Wait()
	return errs
}

func TestPublishStoresSourceUnchanged(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	c := newContent(harbor, "Harbor")
	c.Source = []byte("\xef\xbb\xbfname: Harbor\r\n# ø \x00\xff\n")
	publish(t, s, "harbor", c)
	got, err := s.Version(testkit.AsSystem(t), "harbor", store.NewestVersion)
	if err != nil {
		t.Fatal(err)
	}
	want := store.Stored{Content: c, Version: 1, PublishedAt: noon}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestConcurrentPublishesGetDistinctVersions(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	const n = 24
	results := make([]store.Published, n)
	errs := runConcurrently(n, func(i int) error {
		var err error
		results[i], err = s.Publish(testkit.AsSystem(t), "harbor", newContent(harbor, fmt.Sprint(i)), nil, false, noon)
		return err
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(results, func(a, b store.Published) int { return int(a.Version - b.Version) })
	for i, p := range results {
		want := store.Published{BusinessID: harbor, Version: int64(i + 1), IsNew: i == 0}
		if p != want {
			t.Errorf("got %+v, want %+v", p, want)
		}
	}
}

func TestIfMatchAdmitsOnePublish(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	first := publish(t, s, "harbor", newContent(harbor, "first")).Version
	errs := runConcurrently(16, func(i int) error {
		_, err := s.Publish(testkit.AsSystem(t), "harbor", newContent(harbor, fmt.Sprint(i)), &first, false, noon)
		return err
	})
	winners := 0
	for _, err := range errs {
		switch {
		case err == nil:
			winners++
		case !isNotNewest(err):
			t.Errorf("a loser's error is %v", err)
		}
	}
	if winners != 1 {
		t.Errorf("%d publishes won", winners)
	}
	if head, err := s.ReadHead(testkit.AsSystem(t), "harbor"); err != nil || head != 2 {
		t.Errorf("head is %d, %v", head, err)
	}
}

func TestIfMatchRejectsUnpublishedBusiness(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	one := int64(1)
	if _, err := s.Publish(testkit.AsSystem(t), "harbor", newContent(harbor, "x"), &one, false,
		noon); !isNotNewest(err) {
		t.Errorf("got %v", err)
	}
	if p := publish(t, s, "harbor", newContent(harbor, "x")); p.Version != 1 || !p.IsNew {
		t.Errorf("the refused publish left a trace: %+v", p)
	}
}

func TestPublishKeepsIDsUnique(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	publish(t, s, "harbor", newContent(harbor, "Harbor"))
	_, err := s.Publish(testkit.AsSystem(t), "quay", newContent(harbor, "Quay"), nil, false, noon)
	if !errors.Is(err, store.ErrIDTaken) {
		t.Errorf("another slug with the id: %v", err)
	}
	publish(t, s, "quay", newContent(quay, "Quay"))
	for name, id := range map[string]uuid.UUID{"a new id": uuid.New(), "another's id": quay} {
		if _, err := s.Publish(testkit.AsSystem(t), "harbor", newContent(id, "Harbor"), nil, false,
			noon); !errors.Is(err,
			store.IDChangedError{Known: harbor}) {
			t.Errorf("%s: %v", name, err)
		}
		none := int64(0)
		if _, err := s.Publish(testkit.AsSystem(t), "harbor", newContent(id, "Harbor"), &none, false,
			noon); !isNotNewest(err) {
			t.Errorf("%s, as a first version: %v", name, err)
		}
	}
}

func TestRollbackPublishesOldContent(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	old := newContent(harbor, "old")
	publish(t, s, "harbor", old)
	publish(t, s, "harbor", newContent(harbor, "new"))
	later := noon.Add(time.Hour)
	p, err := s.Rollback(testkit.AsSystem(t), "harbor", 1, nil, false, later)
	if err != nil {
		t.Fatal(err)
	}
	if want := (store.Published{BusinessID: harbor, Version: 3}); p != want {
		t.Errorf("got %+v, want %+v", p, want)
	}
	got, err := s.Version(testkit.AsSystem(t), "harbor", store.NewestVersion)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(store.Stored{Content: old, Version: 3, PublishedAt: later}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := s.Rollback(testkit.AsSystem(t), "harbor", 4, nil, false, later); !errors.Is(err,
		store.NoVersionError(4)) {
		t.Errorf("a version that does not exist: %v", err)
	}
	if _, err := s.Rollback(testkit.AsSystem(t), "nobody", 1, nil, false, later); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a business that does not exist: %v", err)
	}
}

func TestConcurrentChangesLeaveNoGap(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	publish(t, s, "harbor", newContent(harbor, "first"))
	errs := runConcurrently(16, func(i int) error {
		if i%2 == 0 {
			_, err := s.Rollback(testkit.AsSystem(t), "harbor", 1, nil, false, noon)
			return err
		}
		_, err := s.Publish(testkit.AsSystem(t), "harbor", newContent(harbor, "next"), nil, false, noon)
		return err
	})
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	list, err := s.Versions(testkit.AsSystem(t), "harbor", 1<<62, 100)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range list {
		if want := int64(17 - i); v.Version != want {
			t.Fatalf("the listed version is %d, want %d", v.Version, want)
		}
	}
	if len(list) != 17 {
		t.Errorf("%d versions", len(list))
	}
}

func isNotNewest(err error) bool {
	_, is := errors.AsType[store.NotNewestError](err)
	return is
}

func TestRemoveKeepsVersionNumbers(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	publish(t, s, "harbor", newContent(harbor, "Harbor"))
	publish(t, s, "harbor", newContent(harbor, "Harbor"))
	if _, err := s.Remove(testkit.AsSystem(t), "harbor", quay, noon); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("another business that had the slug: %v", err)
	}
	if _, err := s.Remove(testkit.AsSystem(t), "harbor", harbor, noon); err != nil {
		t.Fatal(err)
	}
	wantNotFound(t, s, "harbor")
	if _, err := s.Slug(testkit.AsSystem(t), harbor); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the removed business still has a slug: %v", err)
	}
	if n, err := s.Predecessors(testkit.AsSystem(t), "harbor"); n != 1 || err != nil {
		t.Errorf("%d predecessors, %v", n, err)
	}
	if _, err := s.Publish(testkit.AsSystem(t), "quay", newContent(harbor, "Quay"), nil, false, noon); !errors.Is(err,
		store.ErrIDTaken) {
		t.Errorf("the removed business's id for another slug: %v", err)
	}
	if _, err := s.Publish(testkit.AsSystem(t), "harbor", newContent(harbor, "x"), nil, false, noon); !errors.Is(err,
		store.ErrIDTaken) {
		t.Errorf("the removed business's id for its own slug: %v", err)
	}
	two := int64(2)
	if _, err := s.Publish(testkit.AsSystem(t), "harbor", newContent(harborAgain, "x"), &two, false,
		noon); !isNotNewest(err) {
		t.Errorf("If-Match of a removed version: %v", err)
	}
	p := publish(t, s, "harbor", newContent(harborAgain, "Harbor again"))
	if want := (store.Published{BusinessID: harborAgain, Version: 3, IsNew: true}); p != want {
		t.Errorf("got %+v, want %+v", p, want)
	}
	if _, err := s.Rollback(testkit.AsSystem(t), "harbor", 2, nil, false, noon); !errors.Is(err,
		store.NoVersionError(2)) {
		t.Errorf("a version from before the removal: %v", err)
	}
}

// wantNotFound expects that each method of the store reports that the business does not exist.
func wantNotFound(t *testing.T, s *store.Store, slug string) {
	t.Helper()
	ctx := testkit.AsSystem(t)
	_, head := s.ReadHead(ctx, slug)
	_, text := s.Text(ctx, slug, 1)
	_, newest := s.Version(ctx, slug, store.NewestVersion)
	_, first := s.Version(ctx, slug, 1)
	_, versions := s.Versions(ctx, slug, 100, 10)
	_, rollback := s.Rollback(ctx, slug, 1, nil, false, noon)
	_, remove := s.Remove(ctx, slug, uuid.Nil, noon)
	for name, err := range map[string]error{
		"head": head, "text": text, "newest": newest, "first": first, "versions": versions,
		"rollback": rollback, "remove": remove,
	} {
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
	list, err := s.List(ctx, nil, "", 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range list {
		if b.Slug == slug {
			t.Errorf("%s is listed", slug)
		}
	}
}

func TestUnknownBusinessIsNotFound(t *testing.T) {
	t.Parallel()
	wantNotFound(t, openStore(t), "nobody")
}

func TestListPagesBySlug(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	for _, slug := range []string{"quay", "a-b", "ab", "a1"} {
		publish(t, s, slug, newContent(uuid.New(), "Name of "+slug))
	}
	publish(t, s, "ab", newContent(byID(t, s, "ab"), "New name"))
	var got []string
	for after := ""; ; {
		page, err := s.List(testkit.AsSystem(t), nil, after, 3)
		if err != nil {
			t.Fatal(err)
		}
		if len(page) == 0 {
			break
		}
		for _, b := range page {
			got = append(got, fmt.Sprintf("%s %d %s", b.Slug, b.Version, b.Name))
		}
		after = page[len(page)-1].Slug
	}
	if some, err := s.List(testkit.AsSystem(t), []uuid.UUID{byID(t, s, "quay"), byID(t, s, "a1"), uuid.New()}, "a-b",
		3); err != nil || len(some) != 2 || some[0].Slug != "a1" {
		t.Errorf("two by their ids: %v %v", some, err)
	}
	want := []string{"a-b 1 Name of a-b", "a1 1 Name of a1", "ab 2 New name", "quay 1 Name of quay"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func byID(t *testing.T, s *store.Store, slug string) uuid.UUID {
	t.Helper()
	v, err := s.Version(testkit.AsSystem(t), slug, store.NewestVersion)
	if err != nil {
		t.Fatal(err)
	}
	return v.BusinessID
}

func TestVersionsPageNewestFirst(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	for range 5 {
		publish(t, s, "harbor", newContent(harbor, "Harbor"))
	}
	page, err := s.Versions(testkit.AsSystem(t), "harbor", 5, 2)
	if err != nil {
		t.Fatal(err)
	}
	want := []store.Version{{Version: 4, PublishedAt: noon}, {Version: 3, PublishedAt: noon}}
	if diff := cmp.Diff(want, page); diff != "" {
		t.Error(diff)
	}
}

func TestRemovedListsByRemovalTime(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	for i, id := range []uuid.UUID{quay, harbor, harborAgain} {
		publish(t, s, "harbor", newContent(id, "Harbor"))
		if _, err := s.Remove(testkit.AsSystem(t), "harbor", uuid.Nil,
			noon.Add(time.Duration(i)*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		before time.Time
		after  uuid.UUID
		limit  int
		want   []uuid.UUID
	}{
		{noon.Add(-time.Second), uuid.Nil, 9, nil},
		{noon, uuid.Nil, 9, []uuid.UUID{quay}},
		{noon.Add(time.Hour), uuid.Nil, 9, []uuid.UUID{harbor, quay}},
		{noon.Add(2 * time.Hour), uuid.Nil, 2, []uuid.UUID{harbor, quay}},
		{noon.Add(2 * time.Hour), quay, 2, []uuid.UUID{harborAgain}},
	} {
		got, err := s.ListRemoved(testkit.AsSystem(t), c.before, c.after, c.limit)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("before %s after %s: %s", c.before, c.after, diff)
		}
	}
}

func TestEraseEventsDeletesBeforeTime(t *testing.T) {
	t.Parallel()
	pool := testkit.Postgres(t, "catalog", migrations.FS)
	s := store.New(pool)
	publish(t, s, "quay", newContent(quay, "Quay"))
	publish(t, s, "harbor", newContent(harbor, "Harbor"))
	if _, err := s.Remove(testkit.AsSystem(t), "harbor", uuid.Nil, noon); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		before time.Time
		want   int64
	}{{noon.Add(-time.Second), 0}, {noon, 2}, {noon, 0}} {
		if n, err := s.EraseEvents(testkit.AsSystem(t), c.before); err != nil || n != c.want {
			t.Errorf("before %s: %d, %v", c.before, n, err)
		}
	}
	var left int
	if err := pool.QueryRow(testkit.AsSystem(t), `SELECT count(*) FROM events WHERE business_id = $1`,
		quay).Scan(&left); err != nil || left != 1 {
		t.Errorf("%d are left of another, %v", left, err)
	}
}
