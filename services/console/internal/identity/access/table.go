package access

// Action is an action on the owner's pages or in the admin API. The text of an action completes the sentence "The role
// … may not".
type Action string

// The actions. Each has a row in the table of accounts.md, or is defined in docs/decisions/007.
const (
	SignedIn        Action = "use the owner's side"
	SeeBusinesses   Action = "see businesses"
	SeeBookings     Action = "see bookings"
	SeeSales        Action = "see tickets and reservations"
	SeeCustomers    Action = "see customers, messages to them and what happened"
	KeepCustomers   Action = "write about customers, or merge them"
	ImportCustomers Action = "import customers"
	SeeOffer        Action = "see the offer with its versions"
	Serve           Action = "book, move, confirm and cancel"
	Sell            Action = "sell tickets, or lend and take back rentals"
	Finish          Action = "complete bookings and note who did not come"
	Refund          Action = "refund other than by the policy, or export"
	RefundSales     Action = "refund tickets and reservations, or export them and customers"
	EditOffer       Action = "edit the offer"
	ChangeOffer     Action = "change the offer beyond their own time off"
	Integrate       Action = "manage API keys, webhooks, calendar feeds and the settings of messages"
	ManageTeam      Action = "manage the team and its tokens"
	Erase           Action = "erase customers or remove the business"
	ManageOperators Action = "list, demote or sign out operators"
	CreateBusiness  Action = "create a business"
	ManageAccounts  Action = "change the subscription, removal and sandbox of businesses"
)

// limitedActions are the actions of a member who is limited to locations ([Member.Locations]). The services limit these
// actions to the member's locations, or the actions concern no location. All other actions are forbidden to the member.
var limitedActions = []Action{SignedIn, SeeBusinesses, SeeBookings, SeeOffer, Serve, Finish, Refund}

// permissions maps each action and role to the [Permission] of the role for the action. A role without an entry may not
// do the action.
var permissions = func() map[Action]map[Role]Permission {
	rows := []struct {
		action Action
		reach  [6]Permission // in the order of Roles
	}{
		//                operator owner manager desk staff viewer
		{SignedIn, [6]Permission{All, All, All, All, All, All}},
		{SeeBusinesses, [6]Permission{All, Own, Own, Own, Own, Own}},
		{SeeBookings, [6]Permission{All, All, All, All, Own, NoContact}},
		{SeeSales, [6]Permission{All, All, All, All, None, NoContact}},
		{SeeCustomers, [6]Permission{All, All, All, All, None, None}},
		{KeepCustomers, [6]Permission{All, All, All, All, None, None}},
		{ImportCustomers, [6]Permission{All, All, All, None, None, None}},
		{SeeOffer, [6]Permission{All, All, All, All, All, All}},
		{Serve, [6]Permission{All, All, All, All, None, None}},
		{Sell, [6]Permission{All, All, All, All, None, None}},
		{Finish, [6]Permission{All, All, All, All, Own, None}},
		{Refund, [6]Permission{All, All, All, None, None, None}},
		{RefundSales, [6]Permission{All, All, All, None, None, None}},
		{EditOffer, [6]Permission{All, All, All, None, Own, None}},
		{ChangeOffer, [6]Permission{All, All, All, None, None, None}},
		{Integrate, [6]Permission{All, All, None, None, None, None}},
		{ManageTeam, [6]Permission{All, All, None, None, None, None}},
		{Erase, [6]Permission{All, All, None, None, None, None}},
		{ManageOperators, [6]Permission{All, None, None, None, None, None}},
		{CreateBusiness, [6]Permission{All, None, None, None, None, None}}, // also [Principal.CanSignUp]
		{ManageAccounts, [6]Permission{All, None, None, None, None, None}},
	}
	all := make(map[Action]map[Role]Permission, len(rows))
	for _, r := range rows {
		all[r.action] = make(map[Role]Permission, len(Roles))
		for i, role := range Roles {
			all[r.action][role] = r.reach[i]
		}
	}
	return all
}()
