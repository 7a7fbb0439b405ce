package actor_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
)

func TestActorRoundTrip(t *testing.T) {
	t.Parallel()
	for _, a := range []actor.Actor{{Kind: actor.System}, {Kind: actor.APIKey, ID: uuid.New()}, {Kind: actor.Owner}} {
		if got, err := actor.Parse(a.String()); err != nil || got != a {
			t.Errorf("%s: got %v, %v", a, got, err)
		}
	}
	for _, text := range []string{"", "root", "owner:", "owner:x", ":" + uuid.NewString()} {
		if got, err := actor.Parse(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

func TestOfRejectsContextWithoutActor(t *testing.T) {
	t.Parallel()
	for _, ctx := range []context.Context{
		t.Context(), actor.With(t.Context(), actor.Actor{}), actor.With(t.Context(), actor.Actor{ID: uuid.New()}),
	} {
		if got, err := actor.Require(ctx); got != (actor.Actor{}) || !errors.Is(err, actor.ErrMissing) {
			t.Errorf("got %v, %v", got, err)
		}
		if got := actor.Of(ctx); got != (actor.Actor{}) {
			t.Errorf("got %v", got)
		}
	}
	owner := actor.Actor{Kind: actor.Owner, ID: uuid.New()}
	if got, err := actor.Require(actor.With(t.Context(), owner)); err != nil || got != owner {
		t.Errorf("got %v, %v, want %v", got, err, owner)
	}
	if got := actor.Of(actor.AsSystem(t.Context())); got != (actor.Actor{Kind: actor.System}) {
		t.Errorf("got %v", got)
	}
}
