package server

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"github.com/slotmesh/slotmesh/libs/fault"
)

// Body reads the request's body to its end, at most the port's limit of it, or what [Bound] says. Handlers call it once they know who
// asks, so that a stranger's body costs no memory; nothing else reads a body (a rule of .golangci.yaml). Asked again, it returns the same.
//
// Faults: unsupported_media_type for a compressed body, whose size would not be bounded; payload_too_large;
// request_timeout when it does not come within the request's deadline; invalid_parameter when it breaks off; service_unavailable where
// large bodies of others fill the memory for them.
func Body(c *fiber.Ctx) ([]byte, error) {
	ctx := c.Context()
	if read, ok := ctx.UserValue(bodyKey{}).([]byte); ok {
		return read, nil
	}
	stream := ctx.RequestBodyStream()
	if stream == nil || hasNeedlessBody(c) { // of a read: it is refused, whatever the body is
		return nil, nil
	}
	if err := checkEncoding(c.Get(fiber.HeaderContentEncoding)); err != nil {
		return nil, err
	}
	if deadline, ok := c.UserContext().Deadline(); ok && ctx.Conn() != nil {
		_ = ctx.Conn().SetReadDeadline(deadline) // a connection that has gone says so when it is read
	}
	length, limit := c.Request().Header.ContentLength(), c.App().Config().BodyLimit
	if bound, ok := ctx.UserValue(boundKey{}).(int); ok {
		limit = min(limit, bound)
	}
	room, _ := ctx.UserValue(roomKey{}).(*room)
	leave, err := room.forBody(c.UserContext(), length, limit)
	if err != nil {
		return nil, err
	}
	ctx.SetUserValue(leaveKey{}, leave)
	body, err := readBody(stream, length, limit)
	if err != nil {
		return nil, err
	}
	// The connection has the last word on whether that was the end: fasthttp is lax about a body that breaks off.
	if from, ok := ctx.Conn().(*conn); ok && from.body.open() {
		return nil, fault.New(fault.InvalidParameter, "The request body broke off before its end, or its chunks are malformed.")
	}
	ctx.SetUserValue(bodyKey{}, body)
	return body, nil
}

// Bound lowers how much of a request's body is read, in bytes: where strangers send something, less is taken than the port takes of those
// who are known.
func Bound(c *fiber.Ctx, bytes int) { c.Context().SetUserValue(boundKey{}, bytes) }

// Under what a request keeps what concerns its body.
type (
	bodyKey  struct{} // the body, once it was read to its end
	boundKey struct{} // what [Bound] says
	roomKey  struct{} // the port's memory for large bodies
	leaveKey struct{} // what gives back the memory of this one
)

// BodyOf is [Body] for a handler of net/http.
func BodyOf(r *http.Request) ([]byte, error) {
	body, ok := r.Body.(*unread)
	if !ok {
		return nil, errors.New("server: the request's body is not the port's: it was read before, or the port is another's")
	}
	if err := checkEncoding(r.Header.Get("Content-Encoding")); err != nil {
		return nil, err
	}
	if deadline, ok := r.Context().Deadline(); ok {
		_ = http.NewResponseController(body.out).SetReadDeadline(deadline) // where that is not possible, the port's own holds
	}
	leave, err := body.room.forBody(r.Context(), int(body.length), body.limit)
	if err != nil {
		return nil, err
	}
	body.leave = leave
	read, err := readBody(body, int(body.length), body.limit)
	body.ended = err == nil
	return read, err
}

// unread is a body that net/http has not read yet.
type unread struct {
	io.ReadCloser
	length int64 // as announced, -1 where it is not
	limit  int
	out    http.ResponseWriter
	conn   net.Conn
	room   *room
	leave  func() // gives back the memory of a large body
	ended  bool
}

// forget is called when the request was answered.
func (b *unread) forget() {
	if b.leave != nil {
		b.leave()
	}
}

// left reports whether more of the body may come than net/http passes over at once.
func (b *unread) left() bool { return !b.ended && (b.length < 0 || b.length > prefetched) }

// checkEncoding refuses a compressed body.
func checkEncoding(encoding string) error {
	if encoding == "" || strings.EqualFold(encoding, "identity") {
		return nil
	}
	return fault.New(fault.UnsupportedMediaType, "Content-Encoding: send the body as it is, not compressed.")
}

// readBody reads to the end, which is at most limit bytes away. length is what the request announces, negative where it does
// not; memory is taken for what has come.
func readBody(from io.Reader, length, limit int) ([]byte, error) {
	if length > limit {
		return nil, tooLarge(limit)
	}
	var body bytes.Buffer
	body.Grow(min(max(length, 0), largeBody) + bytes.MinRead) // ReadFrom wants room for one more read
	_, err := body.ReadFrom(io.LimitReader(from, int64(limit)+1))
	var network net.Error
	switch {
	case body.Len() > limit:
		return nil, tooLarge(limit)
	case errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &network) && network.Timeout():
		return nil, fault.New(fault.RequestTimeout, "The request body did not come in time; send it again.")
	case err != nil:
		// Not wrapped: a connection that broke is the client's here, not a store's.
		return nil, fault.Newf(fault.InvalidParameter, "The request body broke off before its end: %v.", err)
	}
	return body.Bytes(), nil
}

func tooLarge(limit int) error {
	return fault.Newf(fault.PayloadTooLarge, "The request body is too large; send at most %d bytes.", limit)
}

// endBodies holds the rule that no byte of a body is ever taken for a request: after the handler, whatever it answered, a body that it
// has not read to its end is passed over where that takes no waiting, else the connection closes with the answer.
func endBodies(next fasthttp.RequestHandler, bodies *room) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if !ctx.Request.IsBodyStream() {
			next(ctx)
			return
		}
		ctx.SetUserValue(roomKey{}, bodies)
		defer func() {
			endBody(ctx)
			if leave, held := ctx.UserValue(leaveKey{}).(func()); held {
				leave()
			}
		}()
		next(ctx)
	}
}

// prefetched is how much of a body of announced length fasthttp has read before the handler begins.
const prefetched = 8 << 10

func endBody(ctx *fasthttp.RequestCtx) {
	if _, read := ctx.UserValue(bodyKey{}).([]byte); read {
		return
	}
	stream, length := ctx.RequestBodyStream(), ctx.Request.Header.ContentLength()
	if stream != nil && length >= 0 && length <= prefetched {
		if _, err := io.Copy(io.Discard, stream); err == nil {
			return
		}
	}
	ctx.SetConnectionClose()
	if from, ok := ctx.Conn().(*conn); ok {
		from.lingers.Store(true)
	}
}

// refuseMalformed sends the fault of a request that the connection did not let through, and refuses a body where none means
// anything: servers disagree on whether the body of a GET is read. A path without GET answers 405 first.
func refuseMalformed(c *fiber.Ctx) error {
	if string(c.Request().Header.Host()) == refusedHost {
		return refusalOf(c.Context().Conn())
	}
	if !hasNeedlessBody(c) {
		return c.Next()
	}
	c.Context().SetConnectionClose()
	var before fasthttp.ResponseHeader
	c.Response().Header.CopyTo(&before)
	err := c.Next() // a read changes nothing, and its answer is not sent
	if errors.Is(err, fiber.ErrMethodNotAllowed) || err == nil && c.Response().StatusCode() == fiber.StatusMethodNotAllowed {
		c.Context().SetConnectionClose() // the front has replaced the header by that of a service
		return err
	}
	c.Response().Reset()
	before.CopyTo(&c.Response().Header)
	return bodyOfRead(c.Method())
}

// hasNeedlessBody reports whether a read has a body.
func hasNeedlessBody(c *fiber.Ctx) bool {
	return c.Request().IsBodyStream() && c.Request().Header.ContentLength() != 0 && isRead(c.Method())
}

func bodyOfRead(method string) error {
	return fault.Newf(fault.InvalidParameter, "A %s has no body; send its parameters in the query.", method)
}
