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

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Body reads the body of a request to the end, up to the limit of the port or of [LimitBody]. Repeated calls return the
// same bytes. A handler must authorize the caller before it calls Body, so that unauthorized callers cannot use memory.
// Only the functions of this package may read a body; .golangci.yaml enforces this rule.
//
// Faults:
//
//   - unsupported_media_type if the body is compressed, because the size after decompression would have no limit
//   - payload_too_large if the body is longer than the limit
//   - request_timeout if the body does not arrive before the deadline of the request
//   - invalid_parameter if the body is incomplete
//   - service_unavailable if the large bodies of other requests use up the memory
func Body(c *fiber.Ctx) ([]byte, error) {
	ctx := c.Context()
	if read, ok := ctx.UserValue(bodyKey{}).([]byte); ok {
		return read, nil
	}
	stream := ctx.RequestBodyStream()
	if stream == nil || hasNeedlessBody(c) { // the middleware refuses a GET or HEAD with a body
		return nil, nil
	}
	if err := checkEncoding(c.Get(fiber.HeaderContentEncoding)); err != nil {
		return nil, err
	}
	if deadline, ok := c.UserContext().Deadline(); ok && ctx.Conn() != nil {
		_ = ctx.Conn().SetReadDeadline(deadline) // on a closed connection, the next read fails
	}
	length, limit := c.Request().Header.ContentLength(), c.App().Config().BodyLimit
	if bound, ok := ctx.UserValue(boundKey{}).(int); ok {
		limit = min(limit, bound)
	}
	budget, _ := ctx.UserValue(budgetKey{}).(*memoryBudget)
	leave, err := budget.reserveBody(c.UserContext(), length, limit)
	if err != nil {
		return nil, err
	}
	ctx.SetUserValue(releaseKey{}, leave)
	body, err := readBody(stream, length, limit)
	if err != nil {
		return nil, err
	}
	// fasthttp accepts some incomplete bodies. The connection therefore tracks the framing of the body itself, and this
	// code uses the framing to detect an incomplete body.
	if from, ok := ctx.Conn().(*conn); ok && from.body.isOpen() {
		return nil, fault.New(fault.InvalidParameter, "The request body broke off before its end, or its chunks are "+
			"malformed.")
	}
	ctx.SetUserValue(bodyKey{}, body)
	return body, nil
}

// LimitBody lowers the maximal size of a request's body to the argument `bytes`, for example for callers who are not
// signed in.
func LimitBody(c *fiber.Ctx, bytes int) { c.Context().SetUserValue(boundKey{}, bytes) }

// These types are the keys of the request's user values that concern the body.
type (
	bodyKey    struct{} // the whole body, after it was read
	boundKey   struct{} // the limit that [LimitBody] has set
	budgetKey  struct{} // the memory budget of the port for large bodies
	releaseKey struct{} // the function that releases the memory of the body
)

// BodyOf reads the body of a net/http request, with the rules and faults of [Body].
func BodyOf(r *http.Request) ([]byte, error) {
	body, ok := r.Body.(*unreadBody)
	if !ok {
		return nil, errors.New("server: the request's body is not the port's: it was read before, or the port is " +
			"another's")
	}
	if err := checkEncoding(r.Header.Get("Content-Encoding")); err != nil {
		return nil, err
	}
	if deadline, ok := r.Context().Deadline(); ok {
		// If the deadline cannot be set, the read timeout of the port still bounds the read.
		_ = http.NewResponseController(body.out).SetReadDeadline(deadline)
	}
	leave, err := body.budget.reserveBody(r.Context(), int(body.length), body.limit)
	if err != nil {
		return nil, err
	}
	body.releaseMemory = leave
	read, err := readBody(body, int(body.length), body.limit)
	body.isRead = err == nil
	return read, err
}

// unreadBody is the body of a net/http request that no handler has read yet.
type unreadBody struct {
	io.ReadCloser
	length        int64 // Content-Length; -1 if unknown
	limit         int
	out           http.ResponseWriter
	conn          net.Conn
	budget        *memoryBudget
	releaseMemory func() // releases the memory of a large body; nil if none is reserved
	isRead        bool
}

// release releases the memory of the body. The caller must call it after the request was answered.
func (b *unreadBody) release() {
	if b.releaseMemory != nil {
		b.releaseMemory()
	}
}

// hasRest reports whether the unread rest of the body may be longer than the part that net/http discards by itself.
func (b *unreadBody) hasRest() bool { return !b.isRead && (b.length < 0 || b.length > prefetchedBytes) }

// checkEncoding rejects a compressed body.
func checkEncoding(encoding string) error {
	if encoding == "" || strings.EqualFold(encoding, "identity") {
		return nil
	}
	return fault.New(fault.UnsupportedMediaType, "Content-Encoding: send the body as it is, not compressed.")
}

// readBody reads a body to the end, at most `limit` bytes. The argument `length` is the value of Content-Length; it is
// negative if the length is unknown. Memory grows with the received bytes, so that an announced length alone allocates
// at most largeBody bytes.
func readBody(from io.Reader, length, limit int) ([]byte, error) {
	if length > limit {
		return nil, newTooLarge(limit)
	}
	var body bytes.Buffer
	body.Grow(min(max(length, 0), largeBody) + bytes.MinRead) // ReadFrom needs free space for one more read
	_, err := body.ReadFrom(io.LimitReader(from, int64(limit)+1))
	var network net.Error
	switch {
	case body.Len() > limit:
		return nil, newTooLarge(limit)
	case errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &network) && network.Timeout():
		return nil, fault.New(fault.RequestTimeout, "The request body did not come in time; send it again.")
	case err != nil:
		// The error is not wrapped. Otherwise FaultOf would interpret the client's broken connection as an unavailable
		// store.
		return nil, fault.Newf(fault.InvalidParameter, "The request body broke off before its end: %v.", err)
	}
	return body.Bytes(), nil
}

func newTooLarge(limit int) error {
	return fault.Newf(fault.PayloadTooLarge, "The request body is too large; send at most %d bytes.", limit)
}

// discardBodies ensures that the server does not interpret bytes of a body as the next request on the connection. If
// the handler did not read the whole body, discardBodies discards the rest of the body if the rest is short. If the
// rest is long or of unknown length, discardBodies closes the connection after the answer.
func discardBodies(next fasthttp.RequestHandler, bodies *memoryBudget) fasthttp.RequestHandler {
	return func(ctx *fasthttp.RequestCtx) {
		if !ctx.Request.IsBodyStream() {
			next(ctx)
			return
		}
		ctx.SetUserValue(budgetKey{}, bodies)
		defer func() {
			discardBody(ctx)
			if leave, held := ctx.UserValue(releaseKey{}).(func()); held {
				leave()
			}
		}()
		next(ctx)
	}
}

// prefetchedBytes is the number of bytes that fasthttp reads
// before the handler starts, if the length of the body is known.
const prefetchedBytes = 8 << 10

func discardBody(ctx *fasthttp.RequestCtx) {
	if _, read := ctx.UserValue(bodyKey{}).([]byte); read {
		return
	}
	stream, length := ctx.RequestBodyStream(), ctx.Request.Header.ContentLength()
	if stream != nil && length >= 0 && length <= prefetchedBytes {
		if _, err := io.Copy(io.Discard, stream); err == nil {
			return
		}
	}
	ctx.SetConnectionClose()
	if from, ok := ctx.Conn().(*conn); ok {
		from.lingers.Store(true)
	}
}

// refuseMalformed is middleware that answers a malformed request with its fault. It
// also refuses a GET or HEAD with a body, because servers disagree on whether such
// a body is read. If the path supports neither method, the answer is 405 instead.
func refuseMalformed(c *fiber.Ctx) error {
	if string(c.Request().Header.Host()) == refusedHost {
		return findRefusal(c.Context().Conn())
	}
	if !hasNeedlessBody(c) {
		return c.Next()
	}
	c.Context().SetConnectionClose()
	var before fasthttp.ResponseHeader
	c.Response().Header.CopyTo(&before)
	err := c.Next() // shows whether the path supports the method; a read changes no data
	if errors.Is(err, fiber.ErrMethodNotAllowed) || err == nil &&
		c.Response().StatusCode() == fiber.StatusMethodNotAllowed {
		c.Context().SetConnectionClose() // the front has replaced all headers, so this one is set again
		return err
	}
	c.Response().Reset()
	before.CopyTo(&c.Response().Header)
	return newReadBodyFault(c.Method())
}

// hasNeedlessBody reports whether the request is a GET or HEAD with a body.
func hasNeedlessBody(c *fiber.Ctx) bool {
	return c.Request().IsBodyStream() && c.Request().Header.ContentLength() != 0 && isRead(c.Method())
}

func newReadBodyFault(method string) error {
	return fault.Newf(fault.InvalidParameter, "A %s has no body; send its parameters in the query.", method)
}
