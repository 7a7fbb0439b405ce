// Package access says who may do what on the owner's side (accounts.md). [table] is the only place that says so: the admin API and the
// owner's pages register each route with its [Action], and what a page shows asks [Principal.Reach].
package access

import (
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/fault"
)

// Role is what somebody is in a business; [Operator] is the platform's own and holds in all of them.
type Role string

// The roles.
const (
	Operator Role = "operator"
	Owner    Role = "owner"
	Manager  Role = "manager"
	Desk     Role = "desk"
	Staff    Role = "staff" // a member of the offer's staff, who has a staff id
	Viewer   Role = "viewer"
)

// Roles are all roles, in the order of the table's columns.
var Roles = []Role{Operator, Owner, Manager, Desk, Staff, Viewer}

// OfBusiness reports whether a role is one that people have in a business.
func (r Role) OfBusiness() bool { return r != Operator && slices.Contains(Roles, r) }

// Reach is how far an action goes for a role; a larger one reaches further.
type Reach int

// How far an action goes.
const (
	None      Reach = iota // not at all
	Own                    // their own: their calendar, their time off, the businesses that they belong to
	NoContact              // all, without customers' contact
	All
)

// Kind says what a [Principal] is.
type Kind string

// The kinds of principals.
const (
	Environment Kind = "environment" // a bearer of the admin token that the service was started with
	Token       Kind = "token"       // a bearer of a token of the admin API
	Person      Kind = "person"      // somebody who has signed in
)

// Member is what somebody is in one business.
type Member struct {
	BusinessID uuid.UUID
	Role       Role
	StaffID    uuid.UUID // of the offer's staff, for the role [Staff]; nil else
}

// Principal is who asks. The zero value is nobody, who may do nothing.
type Principal struct {
	Kind     Kind
	ID       uuid.UUID // of the token or person; nil for the environment's token
	Session  uuid.UUID // by which the person is signed in; nil for other kinds
	Label    string    // names the principal in logs, and gives no secret away
	Operator bool
	Members  []Member // by business; none for an operator
}

// String names the principal in logs.
func (p Principal) String() string { return p.Label }

// Actor is the principal in events (lifecycle.md §1).
func (p Principal) Actor() actor.Actor { return actor.Actor{Kind: actor.Owner, ID: p.ID} }

// In returns what the principal is in a business; false where they do not belong to it.
func (p Principal) In(businessID uuid.UUID) (Member, bool) {
	if p.Operator {
		return Member{BusinessID: businessID, Role: Operator}, true
	}
	for _, m := range p.Members {
		if m.BusinessID == businessID {
			return m, true
		}
	}
	return Member{}, false
}

// Reach is how far an action goes for the principal in a business.
func (p Principal) Reach(businessID uuid.UUID, action Action) Reach {
	m, _ := p.In(businessID)
	return table[action][m.Role]
}

// Furthest is how far an action goes for the principal in any business.
func (p Principal) Furthest(action Action) Reach {
	if p.Operator {
		return table[action][Operator]
	}
	furthest := None
	for _, m := range p.Members {
		furthest = max(furthest, table[action][m.Role])
	}
	return furthest
}

// Require refuses an action in a business. Faults: business_not_found where the principal does not belong to it, forbidden where
// their role does not allow it.
func (p Principal) Require(businessID uuid.UUID, action Action) error {
	m, ok := p.In(businessID)
	if !ok {
		return fault.New(fault.BusinessNotFound, "Business not found")
	}
	if table[action][m.Role] == None {
		return fault.Newf(fault.Forbidden, "The role %s may not %s.", m.Role, action)
	}
	return nil
}

// RequireAnywhere refuses an action that the principal may do in no business. Fault: forbidden.
func (p Principal) RequireAnywhere(action Action) error {
	if p.Furthest(action) == None {
		return fault.Newf(fault.Forbidden, "You may not %s.", action)
	}
	return nil
}

// ManagesTeams reports whether the principal manages the team of every business in a list of members.
func (p Principal) ManagesTeams(of []Member) bool {
	return !slices.ContainsFunc(of, func(m Member) bool { return p.Reach(m.BusinessID, ManageTeam) == None })
}

// Businesses are the ids of those that the principal belongs to; nil, for an operator, stands for all.
func (p Principal) Businesses() []uuid.UUID {
	if p.Operator {
		return nil
	}
	ids := make([]uuid.UUID, len(p.Members))
	for i, m := range p.Members {
		ids[i] = m.BusinessID
	}
	return ids
}
