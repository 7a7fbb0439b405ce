// Package actor identifies who makes a change. The service that authenticates the
// caller sets the actor. The actor is passed on in the context and, between
// services, in a header. It is stored in the event of the change (lifecycle.md §1).
package actor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// Actor is the author of a change. ID is the id of the API key, person
// or token. If actors of the kind have no ids, ID is the nil UUID.
type Actor struct {
	Kind Kind      `json:"kind"`
	ID   uuid.UUID `json:"id,omitzero"`
}

// Kind is the kind of an [Actor].
type Kind string

// The kinds of actors.
const (
	APIKey   Kind = "api_key"  // a server or an agent with an API key
	Page     Kind = "page"     // a customer on the booking page of the business
	Customer Kind = "customer" // a customer who uses the link to a booking
	Owner    Kind = "owner"    // a person or a token that manages the business
	Provider Kind = "provider" // a payment provider
	System   Kind = "system"   // Slotmesh itself
)

// Header is the name of the header in which a service passes
// the actor to another service. Public ports ignore the header.
const Header = "Slotmesh-Actor"

// String returns the text of the actor, which [Parse] reads: the kind and, if there is an id, a colon and the id.
func (a Actor) String() string {
	if a.ID == uuid.Nil {
		return string(a.Kind)
	}
	return string(a.Kind) + ":" + a.ID.String()
}

// Parse parses the text that [Actor.String] returns.
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

// Maker returns the id of the actor if the actor is an [Owner] with
// an id, which is a person or a token. Otherwise it returns nil.
func (a Actor) Maker() *uuid.UUID {
	if a.Kind == Owner && a.ID != uuid.Nil {
		return &a.ID
	}
	return nil
}

type key struct{}

// With returns a context whose actor is the argument `a`.
func With(ctx context.Context, a Actor) context.Context { return context.WithValue(ctx, key{}, a) }

// From returns the actor of a context. The second result is false if the context has no actor.
func From(ctx context.Context) (Actor, bool) {
	a, set := ctx.Value(key{}).(Actor)
	return a, set && a.Kind != ""
}

// Of returns the actor of a context. It returns the zero Actor if the context has no actor.
func Of(ctx context.Context) Actor {
	a, _ := Require(ctx)
	return a
}

// ErrMissing is the error of [Require] if the context has no actor.
var ErrMissing = errors.New("the write has no actor")

// Require returns the actor of a context. Every function that stores a
// change calls Require. Error: [ErrMissing] if the context has no actor.
func Require(ctx context.Context) (Actor, error) {
	a, set := From(ctx)
	if !set {
		return Actor{}, ErrMissing
	}
	return a, nil
}

// AsSystem returns a context whose actor is Slotmesh itself, for background jobs.
func AsSystem(ctx context.Context) context.Context { return With(ctx, Actor{Kind: System}) }
