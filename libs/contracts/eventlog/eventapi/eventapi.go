// Package eventapi serves the events of a service on its internal port. It serves the feed of
// all events, and the audit log of each business. The client is in libs/contracts/eventclient.
package eventapi

import (
	"time"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/contracts/eventclient"
	"github.com/slotmesh/slotmesh/libs/contracts/eventlog"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
)

const (
	maxWait = 20 * time.Second
	// margin is the time that is left to send the response after the longest wait.
	margin = time.Second
)

// Serve adds the routes below to a service. It also starts a job that removes old events:
//
//	GET /internal/events?after&limit&wait             the feed
//	GET /internal/businesses/{id}/events?subject&type&from&to&limit&cursor   the audit log of a business
//
// If no event follows the cursor, a request for the feed waits for an event. The parameter `wait` is the
// maximal number of seconds to wait, at most 20. The request also stops waiting before its own deadline.
func Serve(s *server.Server, log *eventlog.Log) {
	s.Internal.Get("/internal/events", func(c *fiber.Ctx) error {
		after, limit, wait, err := feed(c)
		if err != nil {
			return err
		}
		page, err := log.Feed(c.UserContext(), after, limit, wait, s.IsDraining)
		if err != nil {
			return err
		}
		return c.JSON(page)
	})
	s.Internal.Get("/internal/businesses/:business/events", func(c *fiber.Ctx) error {
		business, err := request.ID("business", c.Params("business"))
		if err != nil {
			return err
		}
		page, err := server.Query(c).Page()
		if err != nil {
			return err
		}
		filter, err := eventclient.ReadFilter(server.Query(c))
		if err != nil {
			return err
		}
		list, err := log.List(c.UserContext(), business, filter, page)
		if err != nil {
			return err
		}
		return c.JSON(list)
	})
	s.Go("removing old events", log.Run)
}

func feed(c *fiber.Ctx) (string, int, time.Duration, error) {
	q := server.Query(c)
	after, err := q.Text("after")
	if err != nil {
		return "", 0, 0, err
	}
	page, err := q.Page()
	if err != nil {
		return "", 0, 0, err
	}
	var wait time.Duration
	if text, err := q.Text("wait"); err != nil {
		return "", 0, 0, err
	} else if text != "" && text != "0" {
		seconds, err := request.Number("wait", text, int(maxWait/time.Second))
		if err != nil {
			return "", 0, 0, err
		}
		wait = time.Duration(seconds) * time.Second
	}
	if deadline, ok := c.UserContext().Deadline(); ok {
		wait = min(wait, max(0, time.Until(deadline)-margin))
	}
	return after, page.Limit, wait, nil
}
