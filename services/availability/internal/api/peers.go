package api

import "github.com/gofiber/fiber/v2"

// MountForPeers adds both calendars to the internal port, below /internal, for the MCP server. There are no limits by
// address: whom such a request is for, and whether that one has had its share, is settled before it comes here.
func (p *Public) MountForPeers(router fiber.Router) {
	business := router.Group("/internal/api/public/:slug")
	business.Get("/slots", p.slots)
	business.Get("/available-dates", p.dates)
}
