// Package access decides who may do what on the owner's pages and in the admin API (accounts.md). The map `permissions`
// has all permissions. The admin API and the owner's pages register each route with the [Action] that a caller of the
// route does. The pages call [Principal.PermissionIn] to decide which data and buttons they show.
package access

import (
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Role is the role of a principal in a business. The role decides which actions the principal may do in this business.
// The role [Operator] applies to all businesses of the installation.
type Role string

// The roles.
const (
	Operator  Role = "operator"
	Owner     Role = "owner"
	Manager   Role = "manager"
	FrontDesk Role = "desk"
	Staff     Role = "staff" // a person on the business's staff; the member has a staff id
	Viewer    Role = "viewer"
)

// Roles lists all roles, in the order of the columns in the table of permissions.
var Roles = []Role{Operator, Owner, Manager, FrontDesk, Staff, Viewer}

// IsBusinessRole reports whether an owner can give the role `r` to a person in a business. It returns false for
// [Operator].
func (r Role) IsBusinessRole() bool { return r != Operator && slices.Contains(Roles, r) }

// Permission is the part of a business's data on which a role may do an action. Each value includes the data of all
// smaller values.
type Permission int

// The values of [Permission].
const (
	None      Permission = iota // the action is forbidden
	Own                         // the principal's own calendar, time off or businesses
	NoContact                   // all data except customers' contact data
	All
)

// Kind is the kind of a [Principal]: a person, or a kind of token.
type Kind string

// The kinds of principals.
const (
	Environment Kind = "environment" // a caller with the admin token of the environment
	Token       Kind = "token"       // a caller with a stored token of the admin API
	Person      Kind = "person"      // a signed-in person
)

// Member is a principal's role in one business.
type Member struct {
	BusinessID uuid.UUID
	Role       Role
	StaffID    uuid.UUID // id of the staff member in the offer, for the role [Staff]; otherwise the nil UUID

	// Locations are the ids of the locations to which the member is limited, sorted. A member without ids is not
	// limited. An owner is never limited.
	Locations []uuid.UUID
}

// Equal reports whether two memberships give the same rights in the same business.
func (m Member) Equal(to Member) bool {
	return m.BusinessID == to.BusinessID && m.Role == to.Role && m.StaffID == to.StaffID &&
		slices.Equal(m.Locations, to.Locations)
}

// IsLimited reports whether the member may see only the bookings at some locations.
func (m Member) IsLimited() bool { return len(m.Locations) > 0 }

// permission returns the permission of the member for an action.
func (m Member) permission(action Action) Permission {
	if m.IsLimited() && !slices.Contains(limitedActions, action) {
		return None
	}
	return permissions[action][m.Role]
}

// Principal is an authenticated caller. The zero value of Principal has no permissions.
type Principal struct {
	Kind       Kind
	ID         uuid.UUID // id of the token or person; the nil UUID for the admin token of the environment
	Session    uuid.UUID // session of a signed-in person; the nil UUID for other kinds
	Label      string    // name in logs; contains no secret
	IsOperator bool
	Members    []Member // the principal's membership in each business; empty for an operator
	// CanSignUp means that the principal is a person with a verified address in an installation with open sign-up. Such
	// a person may create businesses of their own.
	CanSignUp bool
}

// String returns the label of the principal, for logs.
func (p Principal) String() string { return p.Label }

// Actor returns the actor with which events about the principal's changes are recorded (lifecycle.md §1).
func (p Principal) Actor() actor.Actor { return actor.Actor{Kind: actor.Owner, ID: p.ID} }

// MembershipIn returns the principal's membership in a business. An operator gets a membership with the role
// [Operator]. MembershipIn returns false if the principal does not belong to the business.
func (p Principal) MembershipIn(businessID uuid.UUID) (Member, bool) {
	if p.IsOperator {
		return Member{BusinessID: businessID, Role: Operator}, true
	}
	for _, m := range p.Members {
		if m.BusinessID == businessID {
			return m, true
		}
	}
	return Member{}, false
}

// PermissionIn returns the part of a business's data that the principal can see or change by an action. It returns
// [None] if the action is forbidden.
func (p Principal) PermissionIn(businessID uuid.UUID, action Action) Permission {
	m, _ := p.MembershipIn(businessID)
	return m.permission(action)
}

// WidestPermission returns the largest [Permission] that the principal has for an action in any business.
func (p Principal) WidestPermission(action Action) Permission {
	if p.IsOperator {
		return permissions[action][Operator]
	}
	furthest := None
	switch action {
	case SignedIn, SeeBusinesses: // a person who belongs to no business sees an empty list
		if p.Kind == Person {
			furthest = Own
		}
	case CreateBusiness:
		if p.CanSignUp {
			furthest = Own
		}
	default: // the other actions need a role in a business
	}
	for _, m := range p.Members {
		furthest = max(furthest, m.permission(action))
	}
	return furthest
}

// Require returns an error unless the principal may do an action in a business. Faults: business_not_found if the
// principal does not belong to the business; forbidden if the principal's role does not permit the action.
func (p Principal) Require(businessID uuid.UUID, action Action) error {
	m, ok := p.MembershipIn(businessID)
	if !ok {
		return fault.New(fault.BusinessNotFound, "Business not found")
	}
	if permissions[action][m.Role] == None {
		return fault.Newf(fault.Forbidden, "The role %s may not %s.", m.Role, action)
	}
	if m.permission(action) == None {
		return fault.Newf(fault.Forbidden, "A member who is limited to locations may not %s.", action)
	}
	return nil
}

// RequireAnywhere returns an error unless the principal may do an action in at least one business. Fault: forbidden.
func (p Principal) RequireAnywhere(action Action) error {
	if p.WidestPermission(action) == None {
		return fault.Newf(fault.Forbidden, "You may not %s.", action)
	}
	return nil
}

// ManagesTeams reports whether the principal may manage the teams of all businesses in the memberships `members`.
func (p Principal) ManagesTeams(members []Member) bool {
	return !slices.ContainsFunc(members, func(m Member) bool {
		return p.PermissionIn(m.BusinessID, ManageTeam) == None
	})
}

// Businesses returns the ids of the principal's businesses. For an operator it returns nil, which stands for all
// businesses.
func (p Principal) Businesses() []uuid.UUID {
	if p.IsOperator {
		return nil
	}
	ids := make([]uuid.UUID, len(p.Members))
	for i, m := range p.Members {
		ids[i] = m.BusinessID
	}
	return ids
}
