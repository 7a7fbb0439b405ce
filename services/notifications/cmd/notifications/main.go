// Command notifications runs the notifications service. `notifications migrate` brings its
// tables up to date; `notifications resume-feed FEED` resumes a feed after events were lost.
package main

import (
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/services/notifications"
)

func main() {
	server.Main(server.Service[notifications.Config]{
		Name: "notifications", New: notifications.New, Migrate: notifications.Migrate, Commands: notifications.Commands,
	})
}
