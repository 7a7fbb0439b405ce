package identity

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/email"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/accountmail"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

// MailSignUpLink mails a link to choose a password to the e-mail address `address`. If no person has this address, it
// first adds the person, who has no rights until they use the link. A person who already has an account gets the mail
// of [Accounts.MailPasswordLink]. It works in the background, so the duration of the response does not reveal whether
// the address is known. If the address is invalid, it mails nothing. The caller must count the mail against the rate
// limits before the call.
func (a *Accounts) MailSignUpLink(ctx context.Context, address string, languages ...string) {
	address = normalizeAddress(address)
	if !email.Valid(address) {
		return
	}
	a.mailInBackground(ctx, func(ctx context.Context) error {
		known, err := a.Store.FindCredentialsByEmail(ctx, address)
		person, write := known.Person, accountmail.WritePasswordLink
		if errors.Is(err, store.ErrNotFound) {
			person, err = a.Store.AddUninvitedPerson(ctx, store.Person{ID: uuid.New(), Email: address, Name: address,
				CreatedAt: a.Clock.Now()})
		}
		if err != nil {
			return err
		}
		if !person.IsVerified {
			write = accountmail.WriteSignUp
		}
		return a.sendPasswordLink(ctx, person, write, languages)
	})
}

// MaxOwnBusinesses is the maximum number of businesses that a person may own and still create another. Operators have
// no such limit.
const MaxOwnBusinesses = 3

// BeginOwnBusiness makes a person the owner of a business that the caller then creates. So the person can use the
// business as soon as it exists. The result is false if the person already belongs to the business, which happens when
// the person sends the form again. Fault: conflict if the person already owns [MaxOwnBusinesses] businesses.
func (a *Accounts) BeginOwnBusiness(ctx context.Context, by Principal, businessID uuid.UUID) (bool, error) {
	isNew, err := a.Store.AddOwner(ctx, by, businessID, MaxOwnBusinesses, a.Clock.Now())
	if errors.Is(err, store.ErrTooManyBusinesses) {
		return false, fault.Wrap(fault.Conflict, err,
			fmt.Sprintf("You own %d businesses, which is the most; ask the operator for another.", MaxOwnBusinesses))
	}
	return isNew, err
}

// DropOwnBusiness reverts [Accounts.BeginOwnBusiness] for a business that was not created.
func (a *Accounts) DropOwnBusiness(ctx context.Context, by Principal, businessID uuid.UUID) error {
	return a.Store.DropOwner(ctx, by, businessID, a.Clock.Now())
}
