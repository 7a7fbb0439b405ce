// Package sqlstate classifies errors of PostgreSQL. It imports no database
// driver, so that libs/platform/server can use it in services without a database.
package sqlstate

import (
	"errors"
	"io"
	"net"
	"strings"
)

// ReadOnly is the SQLSTATE of a write on a server that accepts only reads, such as a former primary.
const ReadOnly = "25006"

// LockNotAvailable is the SQLSTATE of a statement that waited for a lock longer than lock_timeout.
const LockNotAvailable = "55P03"

// InsufficientPrivilege is the SQLSTATE of a statement that the database user is not permitted to run.
const InsufficientPrivilege = "42501"

// unavailableStates holds SQLSTATEs, and prefixes of SQLSTATEs, that mean that the server is unavailable.
// The same request may soon succeed on this server or on another one (PostgreSQL documentation, appendix A).
var unavailableStates = []string{
	"08",             // the connection failed
	"25P03",          // the transaction was idle for too long, for example because the service was paused
	"25P04",          // the transaction took too long
	ReadOnly,         // the server accepts only reads, such as the former primary after a failover
	"26000",          // the prepared statement no longer exists, after a crash or behind a pooler
	"40001",          // serialization failure
	"40P01",          // deadlock
	"53",             // the server has no more connections, memory or disk space
	LockNotAvailable, // lock timeout
	"57014",          // statement timeout
	"57P",            // the server is stopping, starting or has crashed
	"58",             // system error
}

// Of returns the SQLSTATE of err, or "" if err did not come from the database server.
func Of(err error) string {
	var database interface{ SQLState() string }
	if errors.As(err, &database) {
		return database.SQLState()
	}
	return ""
}

// IsUnavailable reports whether err means that a store could not be reached, or could
// not answer for the moment. If a write failed with err, the write may exist or not.
func IsUnavailable(err error) bool {
	if code := Of(err); code != "" {
		for _, beginning := range unavailableStates {
			if strings.HasPrefix(code, beginning) {
				return true
			}
		}
		return false
	}
	var network *net.OpError
	var unsent interface{ SafeToRetry() bool } // pgx marks errors of a request that was not sent
	return errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &unsent) &&
		unsent.SafeToRetry()
}
