//go:build race

package e2e

import "testing"

// Many customers at once for a slot, for seats, for tickets and for units; agents; two replicas; messages and
// webhooks; a payment; the pages.
func init() {
	racedTests = []func(*testing.T){
		TestConcurrentBookingsSellSlotOnce,
		TestConcurrentPartiesFillClassSeats,
		TestConcurrentOrdersNeverOversellTickets,
		TestConcurrentReservationsStopAtStock,
		TestConcurrentAgentsBookOneSlotOnce,
		TestReplicasWithoutRedisApplyPublishAndRevocation,
		TestBookingMailsCustomerAndOwner,
		TestWebhookDeliversSignedBookingEvents,
		TestBookPaysOnline,
		TestBookingPageBooksWithoutScripts,
	}
}
