// Package sqlstate is the one table of what an error of PostgreSQL means for an answer. It knows no driver, so that the
// server can use it in services without tables.
package sqlstate

import (
	"errors"
	"io"
	"net"
	"strings"
)

// ReadOnly is what a server answers a write with that is no primary any more.
const ReadOnly = "25006"

// LockNotAvailable is what a statement is answered that waited longer for a lock than lock_timeout.
const LockNotAvailable = "55P03"

// NotAllowed is what a server answers a user that may not do what the statement asks for.
const NotAllowed = "42501"

// away are the SQLSTATEs, and classes of them, that say nothing about the request: the same one may be answered soon, by
// the same server or another (PostgreSQL's documentation, appendix A).
var away = []string{
	"08",             // the connection failed
	"25P03",          // the transaction was idle for too long: the service was paused
	"25P04",          // the transaction took too long
	ReadOnly,         // a replica, as the former primary is after a failover
	"26000",          // the prepared statement is gone: a crash, or a pooler between
	"40001",          // lost against another transaction
	"40P01",          // deadlock
	"53",             // no connections, memory or disk left
	LockNotAvailable, // a lock could not be had in time
	"57014",          // the statement took too long
	"57P",            // stopping, starting, crashed
	"58",             // the machine below it fails
}

// Of returns the SQLSTATE of err, or "" when it did not come from the server.
func Of(err error) string {
	var database interface{ SQLState() string }
	if errors.As(err, &database) {
		return database.SQLState()
	}
	return ""
}

// Away reports whether err says that a store could not be asked, or could not answer just now. Of what was to be written,
// it says nothing.
func Away(err error) bool {
	if code := Of(err); code != "" {
		for _, beginning := range away {
			if strings.HasPrefix(code, beginning) {
				return true
			}
		}
		return false
	}
	var network *net.OpError
	var unsent interface{ SafeToRetry() bool } // pgx's word for a connection that was closed before
	return errors.As(err, &network) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &unsent) && unsent.SafeToRetry()
}
