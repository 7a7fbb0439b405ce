// Package access decides who may do what on the owner's side (accounts.md). The rules are in [table] alone. The admin
// API and the owner's pages register each route with its [Action], and pages ask [Principal.Reach] what to show.
package access

import (
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/actor"
	"github.com/slotmesh/slotmesh/libs/fault"
)

// Role is the role of a principal in a business. [Operator] is a role of the platform and applies to all businesses.
type Role string

// The roles.
const (
	Operator Role = "operator"
	Owner    Role = "owner"
	Manager  Role = "manager"
	Desk     Role = "desk"
	Staff    Role = "staff" // a member of the business's staff; has a staff id
	Viewer   Role = "viewer"
)

// Roles are all roles, in the order of the columns of [table].
var Roles = []Role{Operator, Owner, Manager, Desk, Staff, Viewer}

// OfBusiness reports whether people can have the role in a business.
func (r Role) OfBusiness() bool { return r != Operator && slices.Contains(Roles, r) }

// Reach is the scope of a permission. A larger value includes the smaller ones.
type Reach int

// The scopes.
const (
	None      Reach = iota // nothing
	Own                    // the principal's own: calendar, time off, businesses
	NoContact              // everything, without customers' contact data
	All
)

// Kind is the kind of a [Principal].
type Kind string

// The kinds of principals.
const (
	Environment Kind = "environment" // the bearer of an admin API token
	Token       Kind = "token"       // a bearer of a token of the admin API
	Person      Kind = "person"      // a signed-in person
)

// Member is a principal's role in one business.
type Member struct {
	BusinessID uuid.UUID
	Role       Role
	StaffID    uuid.UUID // staff id in the offer for the role [Staff]; otherwise nil
}

// Principal is an authenticated caller. The zero value has no permissions.
type Principal struct {
	Kind     Kind
	ID       uuid.UUID // of the token or person; nil for the environment's token
	Session  uuid.UUID // session of a signed-in person; nil for other kinds
	Label    string    // name in logs; contains no secret
	Operator bool
	Members  []Member // one for each business; empty for an operator
}

// String returns the label, for logs.
func (p Principal) String() string { return p.Label }

// Actor returns the principal as the actor of events (lifecycle.md §1).
func (p Principal) Actor() actor.Actor { return actor.Actor{Kind: actor.Owner, ID: p.ID} }

// In returns the principal's membership in a business. It reports false if the principal has none.
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

// Reach returns the scope of an action for the principal in a business.
func (p Principal) Reach(businessID uuid.UUID, action Action) Reach {
	m, _ := p.In(businessID)
	return table[action][m.Role]
}

// Furthest returns the largest scope of an action for the principal in any business.
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

// Require returns an error unless the principal may do an action in a business. Faults: business_not_found
// if the principal does not belong to the business, forbidden if the role does not permit the action.
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

// RequireAnywhere returns an error if the principal may do an action in no business. Fault: forbidden.
func (p Principal) RequireAnywhere(action Action) error {
	if p.Furthest(action) == None {
		return fault.Newf(fault.Forbidden, "You may not %s.", action)
	}
	return nil
}

// ManagesTeams reports whether the principal may manage the team of every business in the list.
func (p Principal) ManagesTeams(of []Member) bool {
	return !slices.ContainsFunc(of, func(m Member) bool { return p.Reach(m.BusinessID, ManageTeam) == None })
}

// Businesses returns the ids of the principal's businesses. For an operator it returns nil, which means all.
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
