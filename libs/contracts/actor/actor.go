// Package actor identifies who makes a change. The service at the edge that
// authenticates the caller sets the actor. It is passed in the context and, between
// services, in a header, and it is stored in the event of the change (lifecycle.md §1).
package actor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// Actor is the author of a change. ID is that of the API key or person; the nil UUID for a kind without ids.
type Actor struct {
	Kind Kind      `json:"kind"`
	ID   uuid.UUID `json:"id,omitzero"`
}

// Kind is the kind of an [Actor].
type Kind string

// The kinds of actors.
const (
	APIKey   Kind = "api_key"  // a server or an agent with an API key
	Page     Kind = "page"     // a customer on the business's own booking page
	Customer Kind = "customer" // the customer, by the link of a booking
	Owner    Kind = "owner"    // a person or token on the owner's side
	Provider Kind = "provider" // a payment provider
	System   Kind = "system"   // Slotmesh itself
)

// Header is the header of a request between services that names the actor. Public ports never read it.
const Header = "Slotmesh-Actor"

// String returns the actor in the form that [Parse] reads: the kind, followed by a colon and the id if there is one.
func (a Actor) String() string {
	if a.ID == uuid.Nil {
		return string(a.Kind)
	}
	return string(a.Kind) + ":" + a.ID.String()
}

// Parse parses the text of [Actor.String].
func Parse(text string) (Actor, error) {
	kind, id, named := strings.Cut(text, ":")
	a := Actor{Kind: Kind(kind)}
	switch a.Kind {
	case APIKey, Page, Customer, Owner, Provider, System:
	default:
		return Actor{}, fmt.Errorf("no kind of actor: %.20q", kind)
	}
	if !named {
		return a, nil
	}
	var err error
	a.ID, err = uuid.Parse(id)
	return a, err
}

// Maker returns the id of a person or token on the owner's side; nil for other actors and without an id.
func (a Actor) Maker() *uuid.UUID {
	if a.Kind == Owner && a.ID != uuid.Nil {
		return &a.ID
	}
	return nil
}

type key struct{}

// With returns a context with the actor a.
func With(ctx context.Context, a Actor) context.Context { return context.WithValue(ctx, key{}, a) }

// From returns the actor of a context, and false if none was set.
func From(ctx context.Context) (Actor, bool) {
	a, set := ctx.Value(key{}).(Actor)
	return a, set && a.Kind != ""
}

// Of returns the actor of a context; the zero Actor if none was set.
func Of(ctx context.Context) Actor {
	a, _ := Require(ctx)
	return a
}

// ErrMissing is the error of a write whose context names no actor.
var ErrMissing = errors.New("the write has no actor")

// Require returns the actor of a context. Every write calls it. Error: [ErrMissing].
func Require(ctx context.Context) (Actor, error) {
	a, set := From(ctx)
	if !set {
		return Actor{}, ErrMissing
	}
	return a, nil
}

// AsSystem returns a context whose actor is Slotmesh itself. Background work uses it.
func AsSystem(ctx context.Context) context.Context { return With(ctx, Actor{Kind: System}) }
