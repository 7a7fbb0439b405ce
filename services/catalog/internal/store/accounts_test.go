package store_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"github.com/slotmesh/slotmesh/libs/testkit"
	"github.com/slotmesh/slotmesh/services/catalog/internal/store"
)

// contentWithAccount returns a version that names a payment account. If `account` is empty, the version names none.
func contentWithAccount(id uuid.UUID, account string) store.Content {
	c := newContent(id, "Harbor")
	if c.Canonical = []byte(`{}`); account != "" {
		c.Canonical = fmt.Appendf(nil, `{"payments":{"accounts":{"stripe":%q}}}`, account)
	}
	return c
}

func TestPublishRejectsUnboundAccounts(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	name := func(slug string, id uuid.UUID, account string, binds bool) error {
		_, err := s.Publish(testkit.AsSystem(t), slug, contentWithAccount(id, account), nil, binds, noon)
		return err
	}
	refused := func(what string, err error, taken bool) {
		t.Helper()
		if !errors.Is(err, store.AccountError{Provider: "stripe", IsTaken: taken}) {
			t.Errorf("%s: %v", what, err)
		}
	}
	accepted := func(what string, err error) {
		t.Helper()
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	refused("an owner names an account of no business", name("harbor", harbor, "acct_1", false), false)
	accepted("an operator binds it", name("harbor", harbor, "acct_1", true))
	accepted("the owner publishes it again", name("harbor", harbor, "acct_1", false))
	refused("another owner names it", name("quay", quay, "acct_1", false), true)
	refused("an operator names it for another business", name("quay", quay, "acct_1", true), true)
	accepted("the owner names none", name("harbor", harbor, "", false))
	accepted("the owner names it once more", name("harbor", harbor, "acct_1", false))
	accepted("the owner names none again", name("harbor", harbor, "", false))
	refused("another owner names what nobody uses", name("quay", quay, "acct_1", false), true)
	accepted("an operator gives it to another business", name("quay", quay, "acct_1", true))
	_, err := s.Rollback(testkit.AsSystem(t), "harbor", 1, nil, false, noon)
	refused("the first owner rolls back to it", err, true)
	if _, err := s.Remove(testkit.AsSystem(t), "quay", quay, noon); err != nil {
		t.Fatal(err)
	}
	accepted("an operator gives away what a removed business had", name("harbor", harbor, "acct_1", true))
}

// TestAccountBelongsToOneBusiness publishes versions at the same time, as owners and as operators. The newest
// versions of two businesses never name the same account.
func TestAccountBelongsToOneBusiness(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	ids := []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
	names := make([]string, len(ids)) // the account that the newest version of each business names
	rapid.Check(t, func(rt *rapid.T) {
		const writers = 3
		type step struct {
			account string
			binds   bool
		}
		steps := make([]step, writers) // one step of each business, at the same time
		for i := range steps {
			steps[i] = step{rapid.SampledFrom([]string{"", "acct_1", "acct_2"}).Draw(rt, "account"),
				rapid.Bool().Draw(rt, "is an operator")}
		}
		errs := runConcurrently(writers, func(i int) error {
			_, err := s.Publish(testkit.AsSystem(t), fmt.Sprintf("business-%d", i),
				contentWithAccount(ids[i], steps[i].account),
				nil, steps[i].binds, noon)
			return err
		})
		for i, err := range errs {
			if _, refused := errors.AsType[store.AccountError](err); err != nil && !refused {
				rt.Fatal(err)
			}
			if err == nil {
				names[i] = steps[i].account
			}
		}
		for i := range names {
			for j := range i {
				if names[i] != "" && names[i] == names[j] {
					rt.Fatalf("businesses %d and %d both name %s", j, i, names[i])
				}
			}
		}
	})
}
