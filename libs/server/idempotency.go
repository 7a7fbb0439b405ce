package server

import (
	"crypto/sha256"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/fault"
	"github.com/slotmesh/slotmesh/libs/idempotency"
)

// maxIdempotencyKey is more than any scheme of making such keys needs.
const maxIdempotencyKey = 255

// IdempotencyKey returns the request's Idempotency-Key, "" where it has none. Its fault is invalid_parameter for one that is
// not 1 to 255 visible ASCII characters, and for several (semantics.md §3).
func IdempotencyKey(c *fiber.Ctx) (string, error) {
	values := c.Request().Header.PeekAll(idempotency.Header)
	if len(values) == 0 {
		return "", nil
	}
	key := string(values[0])
	invisible := func(r rune) bool { return r <= ' ' || r > '~' }
	if len(values) > 1 || key == "" || len(key) > maxIdempotencyKey || strings.ContainsFunc(key, invisible) {
		return "", fault.Newf(fault.InvalidParameter, "%s: send one of 1 to %d visible ASCII characters, such as a UUID.", idempotency.Header, maxIdempotencyKey)
	}
	return key, nil
}

// Named is middleware that notes the request's Idempotency-Key in its context, for calls to peers and for stores. Its fault is
// [IdempotencyKey]'s.
func Named(c *fiber.Ctx) error {
	if err := name(c); err != nil {
		return err
	}
	return c.Next()
}

func name(c *fiber.Ctx) error {
	key, err := IdempotencyKey(c)
	if err != nil || key == "" {
		return err
	}
	sum := sha256.New()
	for _, part := range [][]byte{c.Request().Header.Method(), c.Request().URI().PathOriginal()} {
		_, _ = sum.Write(append(part[:len(part):len(part)], 0))
	}
	body, err := Body(c)
	if err != nil {
		return err
	}
	_, _ = sum.Write(body)
	c.SetUserContext(idempotency.With(c.UserContext(), idempotency.Request{Key: key, Hash: [sha256.Size]byte(sum.Sum(nil))}))
	return nil
}

// Once is the handler of an owner's write. Where write refuses a request that has an Idempotency-Key, outcome is asked what became of
// the key (postgres.Outcome): what was made is answered by again, and a refusal stands once outcome has said, by nil, that it
// holds for every attempt that began before.
func Once(write fiber.Handler, outcome func(*fiber.Ctx) ([]byte, error), again func(*fiber.Ctx, []byte) error) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := name(c); err != nil {
			return err
		}
		refusal := write(c)
		if refusal == nil || idempotency.Of(c.UserContext()).Key == "" || fault.Is(refusal, fault.OutcomeUnknown) ||
			fault.Is(refusal, fault.IdempotencyInProgress) || fault.Is(refusal, fault.IdempotencyMismatch) {
			return refusal
		}
		answer, err := outcome(c)
		if err != nil {
			return err
		}
		if answer == nil {
			return refusal
		}
		return again(c, answer)
	}
}

// Again answers a repeated write as the first time.
func Again(status int) func(*fiber.Ctx, []byte) error {
	return func(c *fiber.Ctx, answer []byte) error {
		if status == fiber.StatusNoContent {
			return c.SendStatus(status)
		}
		c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
		return c.Status(status).Send(answer)
	}
}
