package messages

import (
	"context"
	"html"
	"strings"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/services/notifications/internal/letter"
	"github.com/slotmesh/slotmesh/services/notifications/internal/store"
)

// declinePath is the path of the owner's page that declines a booking, relative to the owner's page of the booking.
const declinePath = "/cancel"

// addDecisionLink returns a notice of a pending booking whose buttons *Confirm* and *Decline* lead to a page without a
// sign-in. The stored message keeps the links to the owner's pages, because every member of the business can read stored
// messages, and the link is only for its recipient. If the booking service does not respond, the sent message keeps
// them, too. The argument `offer` is nil if the business could not be read.
func (m *Messages) addDecisionLink(ctx context.Context, offer *catalog.Snapshot, message store.Message) store.Message {
	if offer == nil || message.Kind != string(letter.OwnerNotice) || message.About.Kind != event.Booking {
		return message
	}
	confirm := m.buildOwnerURL(offer, message.About)
	if confirm == "" || !strings.Contains(message.Text, confirm+declinePath) {
		return message
	}
	link, err := m.Peers.DecisionLink(ctx, message.BusinessID, booking.DecisionRecipient{Booking: message.About.ID,
		Slug: offer.Slug, Email: message.Recipient})
	if err != nil {
		m.Telemetry.Logger.WarnContext(ctx, "a notice has no link for the decision", "business_id", message.BusinessID,
			"message_id", message.ID, "error", err)
	}
	if link == "" {
		return message
	}
	message.Text = strings.NewReplacer(confirm+declinePath, link, confirm, link).Replace(message.Text)
	confirm, link = html.EscapeString(confirm), html.EscapeString(link)
	message.HTML = strings.NewReplacer(confirm+declinePath, link, confirm, link).Replace(message.HTML)
	return message
}
