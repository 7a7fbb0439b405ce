// Package deadlines contains settings for tests that run all services of Slotmesh.
package deadlines

// Roomy contains settings of services, by environment variable. The timeouts in these settings are long enough for a
// slow machine. Tests that do not test timeouts use these settings.
var Roomy = map[string]string{
	"REQUEST_TIMEOUT": "150s", "PUBLISH_TIMEOUT": "140s", "DATABASE_STATEMENT_TIMEOUT": "130s", "DRAIN_TIMEOUT": "1m",
	"PEER_TIMEOUT": "130s", "CATALOG_PATIENCE": "0s", "CALENDAR_TIMEOUT": "2m", "PRICING_TIMEOUT": "2m",
	"BOOKING_TIMEOUT": "2m", "RENTAL_TIMEOUT": "2m",
	"REDIS_TIMEOUT": "1m", "LIMIT_TIMEOUT": "1m", "PAYMENT_TIMEOUT": "30s", "FORM_AT_LEAST": "0s",
}
