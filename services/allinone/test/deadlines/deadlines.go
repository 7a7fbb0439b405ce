// Package deadlines has settings for tests that run a whole Slotmesh.
package deadlines

// Roomy are settings of services, by variable, with timeouts that are long enough for a slow machine.
// Tests use them if they do not test timeouts.
var Roomy = map[string]string{
	"REQUEST_TIMEOUT": "150s", "PUBLISH_TIMEOUT": "140s", "DATABASE_STATEMENT_TIMEOUT": "130s", "DRAIN_TIMEOUT": "1m",
	"PEER_TIMEOUT": "130s", "CATALOG_PATIENCE": "0s", "CALENDAR_TIMEOUT": "2m", "PRICING_TIMEOUT": "2m",
	"BOOKING_TIMEOUT": "2m", "RENTAL_TIMEOUT": "2m",
	"REDIS_TIMEOUT": "1m", "LIMIT_TIMEOUT": "1m", "PAYMENT_TIMEOUT": "30s", "FORM_AT_LEAST": "0s",
}
