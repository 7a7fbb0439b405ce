package sales

import (
	"cmp"
	"context"
	"log/slog"
	"slices"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/contracts/notifications"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/peers"
)

// EventSales is an event with the numbers of sold and remaining tickets.
type EventSales struct {
	*catalog.Event
	Sold      int
	Left      int // number of remaining tickets, at least 0
	Tiers     []TierSales
	IsOver    bool // true if the event has ended, so that no more tickets are sold
	IsRemoved bool // the offer no longer has the event
}

// Share returns the percentage of the event's seats that are sold, rounded down.
func (a *EventSales) Share() int {
	if a.TotalCapacity == 0 {
		return 0
	}
	return min(100, a.Sold*100/a.TotalCapacity)
}

// TierSales is a tier with the numbers of sold and remaining tickets. Left is the smaller of two numbers: the tickets
// that remain in the tier, and the tickets that remain in the whole event (semantics.md §4).
type TierSales struct {
	catalog.Tier
	Sold, Left int
}

// EventList has some events of a business, sorted by start.
type EventList struct {
	Events    []EventSales
	IsUnknown bool // true if the sales cannot be read; Sold and Left then have no meaning
	HasMore   bool // true if more events exist than the list has
}

// maxEvents is the maximum number of events in an [EventList].
const maxEvents = 100

// ListEvents reads events of a business. If the argument `past` is false, ListEvents reads the events that have not
// ended, earliest first. If `past` is true, it reads the events that have ended, latest first.
func (o *UseCases) ListEvents(ctx context.Context, business *catalog.Snapshot, past bool) (*EventList, error) {
	all := &EventList{}
	for i := range business.Events {
		e := &business.Events[i]
		if over := o.isOver(business, e); over == past {
			all.Events = append(all.Events, EventSales{Event: e, IsOver: over})
		}
	}
	slices.SortStableFunc(all.Events, func(a, b EventSales) int {
		order := cmp.Compare(business.EventTime(a.Event).Start, business.EventTime(b.Event).Start)
		if past {
			return -order
		}
		return order
	})
	if all.HasMore = len(all.Events) > maxEvents; all.HasMore {
		all.Events = all.Events[:maxEvents]
	}
	return all, o.countSales(ctx, business, all)
}

// FindEvent reads one event of the offer with its sales. Fault: not_found if the offer does not have the event.
func (o *UseCases) FindEvent(ctx context.Context, business *catalog.Snapshot, id uuid.UUID) (*EventList, error) {
	e := business.Event(id)
	if e == nil || !business.Modules.Events {
		return nil, fault.New(fault.NotFound, "The business has no such event.")
	}
	all := &EventList{Events: []EventSales{{Event: e, IsOver: o.isOver(business, e)}}}
	return all, o.countSales(ctx, business, all)
}

// isOver reports whether an event has ended.
func (o *UseCases) isOver(business *catalog.Snapshot, e *catalog.Event) bool {
	return o.Clock.Now().Unix() >= business.EventTime(e).End
}

// countSales adds the numbers of sold and remaining tickets to the events in the argument `all`. If the booking service
// is unavailable, countSales sets `all.IsUnknown` to true.
func (o *UseCases) countSales(ctx context.Context, business *catalog.Snapshot, all *EventList) error {
	if len(all.Events) == 0 {
		return nil
	}
	ids := make([]uuid.UUID, len(all.Events))
	for i, e := range all.Events {
		ids[i] = e.ID
	}
	sales, err := o.Bookings.Sales(ctx, business.ID, ids)
	if fault.Is(err, fault.PeerUnavailable) {
		o.Logger.WarnContext(ctx, "the numbers of sold tickets are unknown", slog.Any("error", err))
		all.IsUnknown = true
	} else if err != nil {
		return err
	}
	sold := map[uuid.UUID]int{} // number of sold tickets, by the id of an event or a tier
	if sales != nil {
		for _, e := range sales.Events {
			sold[e.EventID] = e.Sold
			for _, t := range e.Tiers {
				sold[t.TierID] = t.Sold
			}
		}
	}
	for i := range all.Events {
		all.Events[i].setCounts(sold)
	}
	return nil
}

func (a *EventSales) setCounts(sold map[uuid.UUID]int) {
	a.Sold = sold[a.ID]
	a.Left = max(0, a.TotalCapacity-a.Sold)
	for _, t := range a.Event.Tiers {
		n := sold[t.ID]
		a.Tiers = append(a.Tiers, TierSales{Tier: t, Sold: n, Left: max(0, min(t.Capacity-n, a.Left))})
	}
}

// FindOrder returns one ticket order. If the principal's role hides contact data, the order omits the customer's
// contact. Fault: not_found.
func (o *UseCases) FindOrder(ctx context.Context, by peers.Principal, business *catalog.Snapshot,
	id uuid.UUID) (*booking.Ticket, error) {
	found, err := o.Bookings.Ticket(ctx, business.ID, id)
	if err == nil && hidesContact(by, business) {
		removeContact(found)
	}
	return found, err
}

// FindEventOfOrder returns the event of a ticket order. If the offer no longer has the event, FindEventOfOrder makes an
// event from the data of the order. It marks this event as ended and removed.
func (o *UseCases) FindEventOfOrder(ctx context.Context, business *catalog.Snapshot, order *booking.Ticket) (*EventList,
	error) {
	if business.Event(order.EventID) != nil && business.Modules.Events {
		return o.FindEvent(ctx, business, order.EventID)
	}
	date, err := timespan.ParseDate(order.Date)
	if err != nil {
		return nil, err
	}
	start, err := timespan.ParseTimeOfDay(order.StartTime[:len("15:04")])
	if err != nil {
		return nil, err
	}
	all := &EventList{Events: []EventSales{{Event: &catalog.Event{ID: order.EventID, Name: order.EventName,
		Date: date, Start: start, End: start}, IsOver: true, IsRemoved: true}}}
	return all, o.countSales(ctx, business, all)
}

// ListOrders returns one page of the ticket orders that a filter matches, and the cursor of the next page. If the
// booking service is unavailable, the list is marked as unknown. Faults: the faults of [UseCases.ListTickets].
func (o *UseCases) ListOrders(ctx context.Context, by peers.Principal, slug string, filter booking.TicketFilter,
	page request.Page) (peers.Part[booking.Ticket], string, error) {
	var part peers.Part[booking.Ticket]
	list, err := o.ListTickets(ctx, by, slug, filter, page)
	if err != nil {
		return part, "", peers.SetPart(ctx, o.Logger, &part, nil, "", err)
	}
	part.List = list.Tickets
	return part, list.NextCursor, nil
}

// OrderDetails has one ticket order with its history and its messages.
type OrderDetails struct {
	Order    booking.Ticket
	History  peers.Part[event.Event]           // newest first
	Messages peers.Part[notifications.Message] // newest first
}

// LoadOrder reads one ticket order with the history and the messages that the principal may see. Fault: not_found.
func (o *UseCases) LoadOrder(ctx context.Context, by peers.Principal, business *catalog.Snapshot,
	id uuid.UUID) (*OrderDetails, error) {
	d := &OrderDetails{}
	asks := []func() error{func() error {
		found, err := o.FindOrder(ctx, by, business, id)
		if err == nil {
			d.Order = *found
		}
		return err
	}}
	if by.PermissionIn(business.ID, access.SeeCustomers) != access.None {
		asks = append(asks, o.newHistoryQuery(ctx, business.Slug, id, &d.History),
			o.newMessagesQuery(ctx, business.Slug, id, &d.Messages))
	}
	return d, peers.RunTogether(asks...)
}

// ExportOrders reads all ticket orders that a filter matches, and calls the function `take` with each page of orders.
// Fault: conflict if there are more than [MaxExported] orders.
func (o *UseCases) ExportOrders(ctx context.Context, by peers.Principal, slug string, filter booking.TicketFilter,
	take func([]booking.Ticket)) error {
	n, err := export("orders", take, func(page request.Page) ([]booking.Ticket, string, error) {
		list, err := o.ListTickets(ctx, by, slug, filter, page)
		if err != nil {
			return nil, "", err
		}
		return list.Tickets, list.NextCursor, nil
	})
	if err == nil {
		o.LogChange(ctx, by, "export tickets", slug, slog.Int("orders", n))
	}
	return err
}
