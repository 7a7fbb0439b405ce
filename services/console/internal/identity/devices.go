package identity

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"math/big"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/accountmail"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/secret"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/store"
)

const (
	// DeviceLoginLifetime is the time within which a person must confirm the user code of a program.
	DeviceLoginLifetime = 10 * time.Minute
	// DevicePollInterval is the minimum interval between two requests with which a program asks for its token.
	DevicePollInterval = 5 * time.Second
	// DeviceTokenLifetime is the lifetime of the token that a program gets.
	DeviceTokenLifetime = 90 * 24 * time.Hour
)

// BusinessLister lists businesses by their ids. *catalogclient.Owner implements it outside tests.
type BusinessLister interface {
	List(ctx context.Context, of []uuid.UUID, page request.Page) (*catalog.BusinessList, error)
}

// codeLetters are the letters of user codes, which people type. They contain no vowels, so that a code is never a word,
// and no two letters that look alike.
const codeLetters = "BCDFGHJKLMNPQRSTVWXZ"

const codeLength = 8

// newUserCode returns a new random user code. The program shows this code, and the person types it in a browser.
func newUserCode() string {
	code := make([]byte, codeLength)
	for i := range code {
		n, _ := rand.Int(rand.Reader, big.NewInt(int64(len(codeLetters)))) // never fails
		code[i] = codeLetters[n.Int64()]
	}
	return string(code)
}

// ParseUserCode returns the user code in `input`, the text that a person typed. If the text has no valid user code,
// ParseUserCode returns "".
func ParseUserCode(input string) string {
	code := strings.Map(func(r rune) rune {
		if r == '-' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToUpper(input[:min(len(input), 40)]))
	if len(code) != codeLength || strings.Trim(code, codeLetters) != "" {
		return ""
	}
	return code
}

// FormatUserCode returns a user code with a hyphen in the middle, which is the form that programs show.
func FormatUserCode(code string) string { return code[:codeLength/2] + "-" + code[codeLength/2:] }

// BeginDevice starts the sign-in of a program (RFC 8628). It returns the secret with which the program polls, and the
// user code that a person confirms. The argument `client` is the name of the program's machine, which the program
// itself reports.
func (a *Accounts) BeginDevice(ctx context.Context, client string) (string, string, error) {
	clear, hash := secret.New("")
	now := a.Clock.Now()
	d := store.DeviceLogin{UserCode: newUserCode(), Client: shortenDeviceName(client), CreatedAt: now,
		ExpiresAt: now.Add(DeviceLoginLifetime)}
	return clear, d.UserCode, a.Store.AddDeviceLogin(ctx, d, hash)
}

// shortenDeviceName shortens the name of a machine to one line of at most 60 characters. The machine itself reports
// this name.
func shortenDeviceName(name string) string {
	line := strings.Join(strings.Fields(strings.ToValidUTF8(name[:min(len(name), 400)], "")), " ")
	const longest = 60
	if characters := []rune(line); len(characters) > longest {
		line = string(characters[:longest])
	}
	if line, err := request.Line("client", line, longest); err == nil {
		return line
	}
	return "slotmesh"
}

// FindDeviceLogin returns the sign-in of a program that waits until a person confirms its user code. The argument
// `input` is the code as the person typed it. Errors: [ErrInvalidSecret].
func (a *Accounts) FindDeviceLogin(ctx context.Context, input string) (*store.DeviceLogin, error) {
	code := ParseUserCode(input)
	if code == "" {
		return nil, ErrInvalidSecret
	}
	d, err := a.Store.FindDeviceLogin(ctx, code, a.Clock.Now())
	if errors.Is(err, store.ErrNotFound) {
		return nil, ErrInvalidSecret
	}
	return &d, err
}

// DeviceChoice is a role in a business, or the role of an operator, that a person can grant to a program.
type DeviceChoice struct {
	access.Member
	Name string // name of the business; "" for an operator
}

// Value returns the id of the business, which identifies the choice in a form.
func (c DeviceChoice) Value() string { return c.BusinessID.String() }

// ListDeviceChoices returns the roles that a person can grant to a program. An operator can grant only the role of an
// operator; other people can grant their own role in each of their businesses. Fault: service_unavailable.
func (a *Accounts) ListDeviceChoices(ctx context.Context, signed *SignedInPerson) ([]DeviceChoice, error) {
	if signed.Principal.IsOperator {
		return []DeviceChoice{{Member: access.Member{Role: access.Operator}}}, nil
	}
	list, err := a.Businesses.List(ctx, signed.Principal.Businesses(), request.Page{Limit: catalog.MaxListed})
	if err != nil {
		return nil, err
	}
	var choices []DeviceChoice
	for _, b := range list.Businesses {
		if m, ok := signed.Principal.MembershipIn(b.ID); ok {
			choices = append(choices, DeviceChoice{m, b.Name})
		}
	}
	return choices, nil
}

// AnswerDevice stores a person's answer to the sign-in of a program. The argument `input` is the user code as the
// person typed it. The argument `choice` is the role that the program gets; nil denies the sign-in. Errors:
// [ErrInvalidSecret] if no program waits with this code.
func (a *Accounts) AnswerDevice(ctx context.Context, signed *SignedInPerson, input string, choice *DeviceChoice) error {
	var allowed *access.Member
	if choice != nil {
		allowed = &choice.Member
	}
	err := a.Store.AnswerDeviceLogin(ctx, signed.Principal, ParseUserCode(input), allowed, a.Clock.Now())
	if errors.Is(err, store.ErrNotFound) {
		return ErrInvalidSecret
	}
	return err
}

// ListDevices lists the programs that the signed-in person has connected by `slotmesh login`, newest first. It also
// returns the names of the programs' businesses by id. If catalog is unavailable, ListDevices returns no names, so that
// the person can still disconnect a program.
func (a *Accounts) ListDevices(ctx context.Context,
	signed *SignedInPerson) ([]store.Token, map[uuid.UUID]string, error) {
	devices, err := a.Store.ListDevices(ctx, signed.Person.ID, a.Clock.Now())
	if err != nil || len(devices) == 0 || signed.Principal.IsOperator {
		return devices, nil, err
	}
	names := map[uuid.UUID]string{}
	list, err := a.Businesses.List(ctx, signed.Principal.Businesses(), request.Page{Limit: catalog.MaxListed})
	if err != nil {
		a.Logger.WarnContext(ctx, "the names of the businesses of programs could not be read", slog.Any("error", err))
		return devices, names, nil
	}
	for _, b := range list.Businesses {
		names[b.ID] = b.Name
	}
	return devices, names, nil
}

// EndDevice disconnects a program that the signed-in person connected by `slotmesh login`. Errors: [store.ErrRevoked].
// Fault: outcome_unknown.
func (a *Accounts) EndDevice(ctx context.Context, signed *SignedInPerson, id uuid.UUID) error {
	if err := a.Store.EndDevice(ctx, signed.Principal, id, a.Clock.Now()); err != nil {
		return err
	}
	a.logChange(ctx, signed.Principal, "revoke token", slog.String("token_id", id.String()))
	return nil
}

// mailDeviceAdded sends a mail to the person who has allowed a program to act for them. The argument `token` is the
// program's token.
func (a *Accounts) mailDeviceAdded(ctx context.Context, token store.Token) {
	person, err := a.Store.FindCredentials(ctx, token.CreatedBy)
	if err != nil {
		a.Logger.WarnContext(ctx, "a mail about an account was not written", slog.Any("error", err))
		return
	}
	a.mailChange(ctx, person.Person, subjectPrograms, func(to, link string, languages ...string) (notifications.Mail,
		error) {
		return accountmail.WriteDeviceAdded(to, token.Device, link, languages...)
	})
}

// RedeemDevice returns the token for a program after a person has allowed the program's sign-in. The argument `clear`
// is the secret with which the program polls. Errors: [ErrInvalidSecret] for an unknown secret; [store.ErrPending],
// [store.ErrTooSoon], [store.ErrDenied], [store.ErrExpired].
func (a *Accounts) RedeemDevice(ctx context.Context, clear string) (string, error) {
	if !secret.IsWellFormed("", clear) {
		return "", ErrInvalidSecret
	}
	token, hash := secret.New(secret.TokenPrefix)
	now := a.Clock.Now().UTC().Truncate(time.Microsecond)
	expires := now.Add(DeviceTokenLifetime)
	made, err := a.Store.RedeemDeviceLogin(ctx, secret.Hash(clear), DevicePollInterval,
		store.Token{ID: uuid.New(), Name: "slotmesh login", Prefix: secret.DisplayPrefix(token), CreatedAt: now,
			ExpiresAt: &expires}, hash)
	switch {
	case errors.Is(err, store.ErrNotFound):
		a.recordRefusal(ctx, methodDevice)
		return "", ErrInvalidSecret
	case errors.Is(err, store.ErrTooManyTokens):
		a.recordRefusal(ctx, methodDevice)
		return "", store.ErrDenied
	case errors.Is(err, store.ErrDenied), errors.Is(err, store.ErrExpired):
		a.recordRefusal(ctx, methodDevice)
		return "", err
	case err != nil:
		return "", err
	}
	a.countSignIn(ctx, methodDevice, "signed-in")
	a.mailDeviceAdded(ctx, made)
	a.Logger.LogAttrs(ctx, slog.LevelInfo, "admin change", slog.String("change", "create token"),
		slog.String("by", "person "+made.CreatedBy.String()),
		slog.String("token_id", made.ID.String()), slog.String("business_id", made.BusinessID.String()),
		slog.String("role", string(made.Role)))
	return token, nil
}
