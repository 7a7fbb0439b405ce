package actor_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/actor"
)

func TestAnActorIsReadAsItWasWritten(t *testing.T) {
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

func TestSlotmeshActsWhereNobodyWasNamed(t *testing.T) {
	t.Parallel()
	if got := actor.Of(t.Context()); got != (actor.Actor{Kind: actor.System}) {
		t.Errorf("got %v", got)
	}
	owner := actor.Actor{Kind: actor.Owner, ID: uuid.New()}
	if got := actor.Of(actor.With(t.Context(), owner)); got != owner {
		t.Errorf("got %v, want %v", got, owner)
	}
}
