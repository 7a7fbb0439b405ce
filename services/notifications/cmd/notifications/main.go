// Command notifications runs the notifications service. `notifications migrate` applies new migrations to the service's
// database. `notifications resume-feed FEED` makes the service read a feed again from its oldest event after events of
// that feed were lost.
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
