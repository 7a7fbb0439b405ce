package api

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/apikey"
	"github.com/slotmesh/slotmesh/libs/clock"
	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/peer/booking"
	"github.com/slotmesh/slotmesh/libs/server"
	"github.com/slotmesh/slotmesh/libs/timespan"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
)

// Records is what peers may ask of the tables; [store.Store] says what its methods do and return.
type Records interface {
	Occupied(ctx context.Context, businessID uuid.UUID, from, to time.Time, seats bool) (booking.Occupied, error)
	CreateKey(ctx context.Context, key store.Key, hash [sha256.Size]byte) error
	Keys(ctx context.Context, businessID uuid.UUID, limit int, after string) ([]booking.Key, string, error)
	RevokeKey(ctx context.Context, businessID, id uuid.UUID, now time.Time) error
	RevokeAllKeys(ctx context.Context, businessID uuid.UUID, now time.Time) error
	Bookings(ctx context.Context, businessID uuid.UUID, filter booking.Filter, limit int, after string) ([]booking.Booking, string, error)
	Move(ctx context.Context, businessID, id uuid.UUID, t state.Transition, now time.Time) (booking.Booking, error)
	Ahead(ctx context.Context, businessID uuid.UUID, now time.Time) (int, error)
	Outcomes
}

// Outcomes says what became of the write that a request's Idempotency-Key names.
type Outcomes interface {
	Outcome(ctx context.Context, businessID uuid.UUID) ([]byte, error)
}

// once makes an owner's write once for each Idempotency-Key of a business.
func once(records Outcomes, write fiber.Handler, again func(*fiber.Ctx, []byte) error) fiber.Handler {
	return server.Once(write, func(c *fiber.Ctx) ([]byte, error) {
		businessID, err := pathID(c, "business")
		if err != nil {
			return nil, err
		}
		return records.Outcome(c.UserContext(), businessID)
	}, again)
}

// Internal serves the peer API under /internal (libs/peer/booking is its client).
type Internal struct {
	records Records
	clock   clock.Clock
	random  io.Reader
}

// NewInternal returns the internal API.
func NewInternal(records Records, c clock.Clock) *Internal {
	return &Internal{records: records, clock: c, random: rand.Reader}
}

// Mount adds the routes.
func (in *Internal) Mount(app fiber.Router) {
	business := app.Group("/internal/businesses/:business")
	business.Get("/occupied", in.occupied)
	business.Post("/keys", once(in.records, in.createKey, keyMadeAgain))
	business.Get("/keys", in.keys)
	business.Delete("/keys", once(in.records, in.revokeAllKeys, server.Again(fiber.StatusNoContent)))
	business.Delete("/keys/:key", once(in.records, in.revokeKey, server.Again(fiber.StatusNoContent)))
	business.Get("/bookings", in.bookings)
	business.Get("/bookings/ahead", in.ahead)
	business.Post("/bookings/:booking/:move", once(in.records, in.move, server.Again(fiber.StatusOK)))
}

func (in *Internal) occupied(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	from, to, err := window(c.Query("from"), c.Query("to"))
	if err != nil {
		return err
	}
	occupied, err := in.records.Occupied(c.UserContext(), businessID, from, to, c.Query("seats") == "true")
	if err != nil {
		return err
	}
	if c.Get(fiber.HeaderAccept) != booking.OccupiedType {
		return c.JSON(occupied)
	}
	body, err := occupied.AppendBinary(nil)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, booking.OccupiedType)
	return c.Send(body)
}

// window reads two instants in seconds since the epoch.
func window(from, to string) (time.Time, time.Time, error) {
	start, err := instant("from", from)
	if err != nil {
		return time.Time{}, time.Time{}, err
	}
	end, err := instant("to", to)
	if err != nil {
		return time.Time{}, time.Time{}, err
	}
	if length := end.Sub(start); length <= 0 || length > booking.MaxOccupiedWindow {
		return time.Time{}, time.Time{}, fault.Newf(fault.InvalidParameter,
			"to: the window must end after it begins and be at most %d days long.", int(booking.MaxOccupiedWindow.Hours()/24))
	}
	return start, end, nil
}

// mostSeconds keeps instants within the years that dates have.
const mostSeconds = 1 << 38

func instant(name, text string) (time.Time, error) {
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < -mostSeconds || seconds > mostSeconds {
		return time.Time{}, fault.Newf(fault.InvalidParameter, "%s: send an instant in whole seconds since 1970-01-01T00:00:00Z.", name)
	}
	return time.Unix(seconds, 0), nil
}

func (in *Internal) createKey(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	body, err := server.Body(c)
	if err != nil {
		return err
	}
	now := in.clock.Now().UTC().Truncate(time.Microsecond)
	asked, err := newKey(body, now)
	if err != nil {
		return err
	}
	secret, err := apikey.Generate(in.random)
	if err != nil {
		return err
	}
	key := store.Key{BusinessID: businessID, Key: booking.Key{
		ID: uuid.New(), Name: asked.Name, Scope: asked.Scope, Prefix: apikey.Display(secret),
		CreatedAt: now, ExpiresAt: asked.ExpiresAt,
	}}
	err = in.records.CreateKey(c.UserContext(), key, apikey.Hash(secret))
	var made *store.KeyMadeError
	if errors.As(err, &made) {
		return keyMade(made.ID)
	}
	if err != nil {
		return err
	}
	key.Secret = secret
	c.Set(fiber.HeaderCacheControl, "no-store")
	return c.Status(fiber.StatusCreated).JSON(key.Key)
}

func keyMadeAgain(_ *fiber.Ctx, answer []byte) error {
	var made store.KeyMadeError
	if err := json.Unmarshal(answer, &made); err != nil {
		return err
	}
	return keyMade(made.ID)
}

// keyMade answers a repeated request: nobody has the secret but who got the first answer.
func keyMade(id uuid.UUID) error {
	return fault.Newf(fault.Conflict, "Idempotency-Key: a request with this key made the API key %s; its secret is shown once, in "+
		"that answer, and kept nowhere. If that answer was lost, revoke this API key and make another one with a new Idempotency-Key.", id)
}

const maxKeyName = 100

func newKey(body []byte, now time.Time) (booking.NewKey, error) {
	var key booking.NewKey
	if err := json.Unmarshal(body, &key); err != nil {
		return key, fault.Newf(fault.InvalidParameter, "The body must be {\"name\": \"…\", \"scope\": \"read\", \"write\" or \"all\", \"expires_at\": an RFC 3339 instant or null}: %s.", jsonReason(err))
	}
	key.Name = strings.TrimSpace(key.Name)
	switch {
	case key.Name == "" || utf8.RuneCountInString(key.Name) > maxKeyName || strings.ContainsFunc(key.Name, unicode.IsControl) || !utf8.ValidString(key.Name):
		return key, fault.Newf(fault.InvalidParameter, "name: send 1 to %d characters on one line, by which you will know the key.", maxKeyName)
	case key.Scope != booking.ScopeRead && key.Scope != booking.ScopeWrite && key.Scope != booking.ScopeAll:
		return key, fault.New(fault.InvalidParameter, "scope: send read, write or all.")
	case key.ExpiresAt != nil && (!key.ExpiresAt.After(now) || key.ExpiresAt.Year() > 9999):
		return key, fault.New(fault.InvalidParameter, "expires_at: send an instant in the future, or leave it out for a key that does not expire.")
	}
	if key.ExpiresAt != nil {
		whole := key.ExpiresAt.UTC().Truncate(time.Microsecond)
		key.ExpiresAt = &whole
	}
	return key, nil
}

// jsonReason names the field of the wrong type, where that is what is wrong.
func jsonReason(err error) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return fmt.Sprintf("%s is a %s", wrong.Field, wrong.Value)
	}
	var instant *time.ParseError
	if errors.As(err, &instant) {
		return "expires_at is no RFC 3339 instant"
	}
	return "it is not a JSON object"
}

func (in *Internal) keys(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	limit, err := pageLimit(c)
	if err != nil {
		return err
	}
	keys, next, err := in.records.Keys(c.UserContext(), businessID, limit, c.Query("cursor"))
	if err != nil {
		return asFault(err)
	}
	return c.JSON(booking.KeyList{Keys: notNil(keys), NextCursor: next})
}

func (in *Internal) revokeKey(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	keyID, err := pathID(c, "key")
	if err != nil {
		return err
	}
	err = in.records.RevokeKey(c.UserContext(), businessID, keyID, in.clock.Now())
	if errors.Is(err, store.ErrNotFound) {
		return fault.New(fault.NotFound, "This business has no such API key.")
	}
	if err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

func (in *Internal) revokeAllKeys(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	if err := in.records.RevokeAllKeys(c.UserContext(), businessID, in.clock.Now()); err != nil {
		return err
	}
	return c.SendStatus(fiber.StatusNoContent)
}

func (in *Internal) bookings(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	limit, err := pageLimit(c)
	if err != nil {
		return err
	}
	filter, err := bookingFilter(c)
	if err != nil {
		return err
	}
	bookings, next, err := in.records.Bookings(c.UserContext(), businessID, filter, limit, c.Query("cursor"))
	if err != nil {
		return asFault(err)
	}
	return c.JSON(booking.BookingList{Bookings: notNil(bookings), NextCursor: next})
}

func bookingFilter(c *fiber.Ctx) (booking.Filter, error) {
	from, err := optionalDate(c, "from")
	if err != nil {
		return booking.Filter{}, err
	}
	to, err := optionalDate(c, "to")
	if err != nil {
		return booking.Filter{}, err
	}
	if from != nil && to != nil && *to < *from {
		return booking.Filter{}, fault.New(fault.InvalidParameter, "to: the last date lies before the first; send one on or after from.")
	}
	status := c.Query("status")
	if status != "" && !state.Known(state.State(status)) {
		return booking.Filter{}, fault.New(fault.InvalidParameter, "status: send pending, confirmed, completed, no_show or cancelled.")
	}
	return booking.Filter{From: from, To: to, Status: status}, nil
}

func optionalDate(c *fiber.Ctx, name string) (*timespan.Date, error) {
	text := c.Query(name)
	if text == "" {
		return nil, nil
	}
	date, err := timespan.ParseDate(text)
	if err != nil {
		return nil, fault.Newf(fault.InvalidParameter, "%s: %s.", name, err)
	}
	return &date, nil
}

func (in *Internal) ahead(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	n, err := in.records.Ahead(c.UserContext(), businessID, in.clock.Now())
	if err != nil {
		return err
	}
	return c.JSON(booking.AheadCount{Count: n})
}

func (in *Internal) move(c *fiber.Ctx) error {
	businessID, err := pathID(c, "business")
	if err != nil {
		return err
	}
	bookingID, err := pathID(c, "booking")
	if err != nil {
		return err
	}
	transition, ok := state.Of(state.Move(c.Params("move")))
	if !ok {
		return fault.New(fault.NotFound, "There is no such move; a booking can be moved by confirm, cancel, complete and no-show.")
	}
	moved, err := in.records.Move(c.UserContext(), businessID, bookingID, transition, in.clock.Now())
	var refused *store.NotAllowedError
	switch {
	case errors.Is(err, store.ErrNotFound):
		return fault.New(fault.NotFound, "This business has no such booking.")
	case errors.As(err, &refused):
		return fault.Newf(fault.Conflict, "The booking is %s; %s takes one that is %s.", refused.Status, c.Params("move"), either(transition.From))
	case err != nil:
		return err
	}
	return c.JSON(moved)
}

func either(states []state.State) string {
	words := make([]string, len(states))
	for i, s := range states {
		words[i] = string(s)
	}
	return strings.Join(words, " or ")
}

// pathID reads a UUID of the path.
func pathID(c *fiber.Ctx, name string) (uuid.UUID, error) {
	id, err := uuid.Parse(c.Params(name))
	if err != nil {
		return uuid.Nil, fault.Newf(fault.InvalidParameter, "%s: the path must hold a UUID here.", name)
	}
	return id, nil
}

// Lists page by 100 entries, at most by 1000 (admin.md).
const (
	defaultLimit = 100
	maxLimit     = 1000
)

func pageLimit(c *fiber.Ctx) (int, error) {
	text := c.Query("limit")
	if text == "" {
		return defaultLimit, nil
	}
	limit, err := strconv.Atoi(text)
	if err != nil || limit < 1 || limit > maxLimit {
		return 0, fault.Newf(fault.InvalidParameter, "limit: send a whole number from 1 to %d.", maxLimit)
	}
	return limit, nil
}

func asFault(err error) error {
	if errors.Is(err, store.ErrBadCursor) {
		return fault.New(fault.InvalidParameter, "cursor: send the next_cursor of the page before, or none.")
	}
	return err
}

// notNil makes an empty list an empty JSON array.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
