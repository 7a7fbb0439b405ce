// Package sqlstate maps errors of PostgreSQL to faults. It imports no
// driver, so that libs/platform/server can use it in services without a database.
package sqlstate

import (
	"errors"
	"io"
	"net"
	"strings"
)

// ReadOnly is the SQLSTATE of a write on a server that is no longer the primary.
const ReadOnly = "25006"

// LockNotAvailable is the SQLSTATE of a statement that waited for a lock longer than lock_timeout.
const LockNotAvailable = "55P03"

// InsufficientPrivilege is the SQLSTATE of a statement that the user lacks permission for.
const InsufficientPrivilege = "42501"

// unavailableStates holds the SQLSTATEs, and prefixes of SQLSTATEs, of an unavailable server. The same
// request may soon succeed on this or another server (PostgreSQL documentation, appendix A).
var unavailableStates = []string{
	"08",             // the connection failed
	"25P03",          // the transaction was idle for too long, as after a pause of the service
	"25P04",          // the transaction took too long
	ReadOnly,         // a replica, such as the former primary after a failover
	"26000",          // the prepared statement is gone, after a crash or behind a pooler
	"40001",          // serialization failure
	"40P01",          // deadlock
	"53",             // out of connections, memory or disk
	LockNotAvailable, // lock timeout
	"57014",          // statement timeout
	"57P",            // server stopping, starting or crashed
	"58",             // system error
}

// Of returns the SQLSTATE of err, or "" if the error is not from the server.
func Of(err error) string {
	var database interface{ SQLState() string }
	if errors.As(err, &database) {
		return database.SQLState()
	}
	return ""
}

// IsUnavailable reports whether err means that a store could not be reached or could not answer
// at this time. If err is from a write, the write may have been carried out or not.
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
	var unsent interface{ SafeToRetry() bool } // how pgx marks a connection that was closed before the request
	return errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &unsent) &&
		unsent.SafeToRetry()
}
