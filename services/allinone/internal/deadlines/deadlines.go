// Package deadlines has settings for tests that run a whole Slotmesh.
package deadlines

// Roomy are timeouts that a slow machine can meet, for tests that do not test timeouts. They are settings of services,
// by variable.
var Roomy = map[string]string{
	"REQUEST_TIMEOUT": "150s", "PUBLISH_TIMEOUT": "140s", "DATABASE_STATEMENT_TIMEOUT": "130s", "DRAIN_TIMEOUT": "1m",
	"PEER_TIMEOUT": "130s", "CATALOG_PATIENCE": "0s", "CALENDAR_TIMEOUT": "2m", "PRICING_TIMEOUT": "2m", "BOOKING_TIMEOUT": "2m", "RENTAL_TIMEOUT": "2m",
	"REDIS_TIMEOUT": "1m", "LIMIT_TIMEOUT": "1m", "PAYMENT_TIMEOUT": "30s", "FORM_AT_LEAST": "0s",
}
