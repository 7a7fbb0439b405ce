package server

import (
	"context"
	"encoding/json"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
)

// Mount adds an internal endpoint, which answers with the result of the function `handle` as JSON. The context of
// `handle` contains the actor of the request (libs/contracts/actor).
//
// [JSON] decodes the body of the request, except a body of type []byte. If the optional
// function `decode` is given, `decode` decodes the body instead of [JSON].
func Mount[Req, Out any](r *Internal, e endpoints.Endpoint[Req, Out],
	handle func(context.Context, Req) (*Out, error), decode ...func([]byte, *Req) error) {
	r.Handle(e.Row, func(c *fiber.Ctx) error { return answerCall(c, e, handle, decode) })
}

// MountIdempotent adds an endpoint whose function `write` runs only once per Idempotency-Key (see
// [HandleIdempotently]). For a retry, `findResult` returns the stored result of the write, and `answerRetry` converts
// that result to the answer.
func MountIdempotent[Req, Out any](r *Internal, e endpoints.Endpoint[Req, Out],
	write func(context.Context, Req) (*Out, error), findResult func(*fiber.Ctx) ([]byte, error),
	answerRetry func(context.Context, Req, []byte) (*Out, error), decode ...func([]byte, *Req) error) {
	r.Handle(e.Row, HandleIdempotently(func(c *fiber.Ctx) error { return answerCall(c, e, write, decode) }, findResult,
		func(c *fiber.Ctx, stored []byte) error {
			var req Req
			if err := e.Read(param(c), Query(c), &req); err != nil {
				return err
			}
			out, err := answerRetry(c.UserContext(), req, stored)
			return answer(c, e.Row, out, err)
		}))
}

// MountResult adds an idempotent endpoint, as [MountIdempotent] does, for a write whose stored result is the value that
// `write` returns. The function `show` converts this value to the answer, both for the first request and for each
// retry.
func MountResult[Req, T, Out any](r *Internal, e endpoints.Endpoint[Req, Out],
	write func(context.Context, Req) (T, error), findResult func(*fiber.Ctx) ([]byte, error),
	show func(context.Context, T) (*Out, error), decode ...func([]byte, *Req) error) {
	MountIdempotent(r, e, func(ctx context.Context, req Req) (*Out, error) {
		result, err := write(ctx, req)
		if err != nil {
			return nil, err
		}
		return show(ctx, result)
	}, findResult, func(ctx context.Context, _ Req, stored []byte) (*Out, error) {
		var result T
		if err := json.Unmarshal(stored, &result); err != nil {
			return nil, err
		}
		return show(ctx, result)
	}, decode...)
}

// Plain converts the given function, which has no context and returns no error, to a function for the argument `show`
// of [MountResult].
func Plain[T, Out any](show func(T) Out) func(context.Context, T) (*Out, error) {
	return func(_ context.Context, result T) (*Out, error) { return new(show(result)), nil }
}

// ShowResult returns a handler for [Mount]. The handler calls `handle` and converts the result with `show` to the
// answer.
func ShowResult[Req, T, Out any](handle func(context.Context, Req) (T, error),
	show func(T) Out) func(context.Context, Req) (*Out, error) {
	return func(ctx context.Context, req Req) (*Out, error) {
		result, err := handle(ctx, req)
		if err != nil {
			return nil, err
		}
		return new(show(result)), nil
	}
}

// AnswerNothing answers a retry without a body. Pass it to [MountIdempotent] as the argument `answerRetry`.
func AnswerNothing[Req any](context.Context, Req, []byte) (*endpoints.None, error) { return nil, nil }

// AnswerStored answers a retry with the stored result. Pass it to [MountIdempotent] as the argument `answerRetry`.
func AnswerStored[Req, Out any](_ context.Context, _ Req, stored []byte) (*Out, error) {
	out := new(Out)
	return out, json.Unmarshal(stored, out)
}

func answerCall[Req, Out any](c *fiber.Ctx, e endpoints.Endpoint[Req, Out],
	handle func(context.Context, Req) (*Out, error), decode []func([]byte, *Req) error) error {
	var req Req
	if err := e.Read(param(c), Query(c), &req); err != nil {
		return err
	}
	if into := e.Body(&req); into != nil {
		if err := decodeBody(c, into, &req, decode); err != nil {
			return err
		}
	}
	out, err := handle(c.UserContext(), req)
	return answer(c, e.Row, out, err)
}

func decodeBody[Req any](c *fiber.Ctx, into any, req *Req, decode []func([]byte, *Req) error) error {
	raw, isRaw := into.(*[]byte)
	if len(decode) == 0 && !isRaw {
		return JSON(c, into)
	}
	body, err := Body(c)
	switch {
	case err != nil:
		return err
	case isRaw:
		*raw = body
		return nil
	}
	return decode[0](body, req)
}

func param(c *fiber.Ctx) func(string) string {
	return func(name string) string { return c.Params(name) }
}

// answer sends the answer of an endpoint as JSON. If err is not nil, answer sends nothing and returns err.
func answer[Out any](c *fiber.Ctx, row *endpoints.Row, out *Out, err error) error {
	if err != nil {
		return err
	}
	if _, isNone := any(out).(*endpoints.None); isNone {
		return c.SendStatus(row.Status)
	}
	return c.Status(row.Status).JSON(out)
}
