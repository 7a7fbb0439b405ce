package sqlstate_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/slotmesh/slotmesh/libs/platform/postgres/sqlstate"
)

func TestIsUnavailableClassifiesErrors(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]bool{
		"08006": true, "08P01": true, "25006": true, "26000": true, "40001": true, "40P01": true, "53100": true,
		"53200": true, "53300": true,
		"55P03": true, "57014": true, "57P01": true, "57P02": true, "57P03": true, "57P05": true, "58030": true,
		"25P03": true,
		"23505": false, "23P01": false, "22003": false, "22P05": false, "42601": false, "42P01": false, "XX000": false,
		"25P02": false, "": false,
	} {
		err := fmt.Errorf("read the head: %w", &pgconn.PgError{Code: code, Message: "text"})
		if sqlstate.Of(err) != code || sqlstate.IsUnavailable(err) != want {
			t.Errorf("%q: unavailable %v, want %v", code, sqlstate.IsUnavailable(err), want)
		}
	}
	for name, c := range map[string]struct {
		err  error
		want bool
	}{
		"refused":         {&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, true},
		"reset":           {&net.OpError{Op: "read", Err: syscall.ECONNRESET}, true},
		"broken off":      {io.ErrUnexpectedEOF, true},
		"closed before":   {fmt.Errorf("failed to deallocate cached statement(s): %w", closedError{}), true},
		"a slip of ours":  {errors.New("cannot scan NULL"), false},
		"nothing at all":  {nil, false},
		"an ended answer": {io.EOF, false},
	} {
		if got := sqlstate.IsUnavailable(c.err); got != c.want {
			t.Errorf("%s: unavailable %v, want %v", name, got, c.want)
		}
	}
}

// closedError is the error of pgx for a connection that was closed before its use.
type closedError struct{}

func (closedError) Error() string     { return "conn closed" }
func (closedError) SafeToRetry() bool { return true }
