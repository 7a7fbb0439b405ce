// Package mcp is the service that will let agents read and book through the Model Context Protocol (semantics.md §9):
// six read tools and book_appointment at /mcp, under the same API keys and limits as POST /book.
//
// Today it is a shell: it runs, reports its health, and /mcp answers 404. It will own nothing: every tool asks the
// service that owns the answer.
package mcp

import (
	"context"

	"github.com/slotmesh/slotmesh/libs/server"
)

// Config are the service's settings.
type Config struct {
	Server server.Config
}

// New returns the service, ready to run.
func New(_ context.Context, cfg Config, rt server.Runtime) (*server.Server, error) {
	return server.New(cfg.Server, rt)
}
