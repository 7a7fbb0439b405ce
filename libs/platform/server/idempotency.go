package server

import (
	"crypto/sha256"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/idempotency"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// maxIdempotencyKey is the maximal length of an Idempotency-Key in bytes. Common keys, such as UUIDs, are shorter.
const maxIdempotencyKey = 255

// IdempotencyKey returns the Idempotency-Key of the request, or "" if the request has none. Fault: invalid_parameter
// if the key is not 1 to 255 visible ASCII characters, or if the request has several keys (semantics.md §3).
func IdempotencyKey(c *fiber.Ctx) (string, error) {
	values := c.Request().Header.PeekAll(idempotency.Header)
	if len(values) == 0 {
		return "", nil
	}
	key := string(values[0])
	invisible := func(r rune) bool { return r <= ' ' || r > '~' }
	if len(values) > 1 || key == "" || len(key) > maxIdempotencyKey || strings.ContainsFunc(key, invisible) {
		return "", fault.Newf(fault.InvalidParameter,
			"%s: send one of 1 to %d visible ASCII characters, such as a UUID.", idempotency.Header, maxIdempotencyKey)
	}
	return key, nil
}

// StoreIdempotencyKey is middleware that stores the Idempotency-Key in the context of the request. Stores, and clients
// of other services, read the key from there. It returns the faults of [IdempotencyKey].
func StoreIdempotencyKey(c *fiber.Ctx) error {
	if err := storeKey(c); err != nil {
		return err
	}
	return c.Next()
}

func storeKey(c *fiber.Ctx) error {
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
	c.SetUserContext(idempotency.With(c.UserContext(),
		idempotency.Request{Key: key, Hash: [sha256.Size]byte(sum.Sum(nil))}))
	return nil
}

// HandleIdempotently returns a handler for a write of an owner. The handler calls `write`. If `write` fails and the
// request has an Idempotency-Key, it calls findResult (postgres.FindIdempotencyResult) to look up the stored result:
//
//   - If an earlier attempt made the write, the handler passes the stored result to answerRetry.
//   - If findResult returns nil, no earlier attempt can still make the write. The handler then returns the error of
//     `write`.
func HandleIdempotently(write fiber.Handler, findResult func(*fiber.Ctx) ([]byte, error),
	answerRetry func(*fiber.Ctx, []byte) error) fiber.Handler {
	return func(c *fiber.Ctx) error {
		if err := storeKey(c); err != nil {
			return err
		}
		refusal := write(c)
		if refusal == nil || idempotency.Of(c.UserContext()).Key == "" || fault.Is(refusal, fault.OutcomeUnknown) ||
			fault.Is(refusal, fault.IdempotencyInProgress) || fault.Is(refusal, fault.IdempotencyMismatch) {
			return refusal
		}
		answer, err := findResult(c)
		if err != nil {
			return err
		}
		if answer == nil {
			return refusal
		}
		return answerRetry(c, answer)
	}
}

// AnswerWithResult returns a function that answers a retry with the
// stored result. The argument `status` is the status of the first answer.
func AnswerWithResult(status int) func(*fiber.Ctx, []byte) error {
	return func(c *fiber.Ctx, answer []byte) error {
		if status == fiber.StatusNoContent {
			return c.SendStatus(status)
		}
		c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
		return c.Status(status).Send(answer)
	}
}
