package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/contracts/endpoints"
	"github.com/slotmesh/slotmesh/libs/contracts/event"
	"github.com/slotmesh/slotmesh/libs/platform/clock"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/sale/link"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/services/booking/internal/state"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// newResultFinder returns a function that finds the stored result of an earlier write of the
// business with the same Idempotency-Key. Its result is nil if no write with the key succeeded.
func newResultFinder(records *store.Store) func(*fiber.Ctx) ([]byte, error) {
	return func(c *fiber.Ctx) ([]byte, error) {
		businessID, err := readBusiness(c)
		if err != nil {
			return nil, err
		}
		return records.FindIdempotencyResult(c.UserContext(), businessID)
	}
}

// readBusiness returns the id of the business in the path. Fault: invalid_parameter.
func readBusiness(c *fiber.Ctx) (uuid.UUID, error) {
	return request.ID("business", c.Params("business"))
}

// Internal serves booking's API for other services over HTTP, under /internal.
// The endpoints and their clients are in libs/contracts/bookingclient.
type Internal struct {
	owner         *usecase.Owner
	booker        *usecase.Booker
	tickets       *usecase.Tickets
	cancellations *usecase.Cancellations
	records       *store.Store
	links         *link.Links
	clock         clock.Clock
	outcomes      outcomes
}

// NewInternal returns the internal API of bookings, orders of tickets, API keys and customers.
func NewInternal(owner *usecase.Owner, booker *usecase.Booker, cancellations *usecase.Cancellations,
	records *store.Store, links *link.Links, c clock.Clock) *Internal {
	return &Internal{owner: owner, booker: booker, tickets: usecase.NewTickets(records, booker),
		cancellations: cancellations,
		records:       records, links: links, clock: c, outcomes: newOutcomes(booker.Telemetry)}
}

// Mount adds the endpoints of bookings, orders of tickets, API keys, customers and reports.
func (in *Internal) Mount(r *server.Internal) {
	findResult := newResultFinder(in.records)
	r.Handle(bookingclient.ReadOccupied.Row, in.serveOccupied)
	server.Mount(r, bookingclient.StorePublished, in.storePublished, decodePublished)
	server.Mount(r, bookingclient.StoreAddressChanges, in.storeAddressChanges, decodeAddressChanges)
	server.Mount(r, bookingclient.CountRelocated, in.countRelocated, decodeAddressChanges)
	server.MountIdempotent(r, bookingclient.CreateKey, in.createKey, findResult, refuseRepeatedKey, decodeNewKey)
	server.Mount(r, bookingclient.ListKeys, in.listKeys)
	server.MountIdempotent(r, bookingclient.RevokeAllKeys, in.revokeAllKeys, findResult, server.AnswerNothing)
	server.MountIdempotent(r, bookingclient.RevokeKey, in.revokeKey, findResult, server.AnswerNothing)
	in.mountBookings(r, findResult)
	server.Mount(r, bookingclient.ReportBookings, in.reportBookings)
	server.Mount(r, bookingclient.ReportRevenue, in.reportRevenue)
	server.Mount(r, bookingclient.ReportStaffTime, in.reportStaffTime)
	server.Mount(r, bookingclient.SearchCustomers, in.searchCustomers)
	server.Mount(r, bookingclient.ExportCustomerData, in.exportCustomerData)
	server.Mount(r, bookingclient.ListExpiringCustomers, in.listExpiringCustomers)
	server.MountIdempotent(r, bookingclient.EraseCustomer, in.eraseCustomer, findResult, server.AnswerStored)
	in.mountCustomerRecords(r, findResult)
	in.mountTickets(r, findResult)
}

func (in *Internal) mountCustomerRecords(r *server.Internal, findResult func(*fiber.Ctx) ([]byte, error)) {
	server.MountIdempotent(r, bookingclient.ChangeCustomer, in.changeCustomer, findResult, server.AnswerStored)
	server.MountIdempotent(r, bookingclient.MergeCustomers, in.mergeCustomers, findResult, server.AnswerStored)
	server.MountIdempotent(r, bookingclient.SeparateCustomers, in.separateCustomers, findResult, server.AnswerStored)
	server.MountIdempotent(r, bookingclient.RemoveCustomerRecord, in.removeCustomerRecord, findResult,
		server.AnswerStored)
	server.MountIdempotent(r, bookingclient.ImportCustomers, in.importCustomers, findResult, server.AnswerStored)
	server.Mount(r, bookingclient.ListCustomerImports, in.listCustomerImports)
	server.MountIdempotent(r, bookingclient.UndoCustomerImport, in.undoCustomerImport, findResult, server.AnswerStored)
}

func (in *Internal) mountBookings(r *server.Internal, findResult func(*fiber.Ctx) ([]byte, error)) {
	show := server.Plain(in.showBooking)
	server.Mount(r, bookingclient.ListBookings, in.listBookings)
	server.Mount(r, bookingclient.CountAhead, in.countAhead)
	server.Mount(r, bookingclient.ReadBooking, server.ShowResult(in.readBooking, in.showBooking))
	server.Mount(r, bookingclient.ReadBookingLink, in.newLinkReader(event.Booking))
	server.Mount(r, bookingclient.PreviewCancellation, in.previewCancellation)
	server.MountResult(r, bookingclient.CancelBooking, in.cancel, findResult, show, decodeRefund)
	server.MountResult(r, bookingclient.RefundBooking, in.refund, findResult, show, decodeRefund)
	r.Handle(bookingclient.Book.Row, server.StoreIdempotencyKey, in.book)
	server.MountResult(r, bookingclient.RescheduleBooking, in.reschedule, findResult, show)
	server.MountResult(r, bookingclient.RelocateBooking, in.relocate, findResult, show)
	server.MountResult(r, bookingclient.ChangeBookingStatus, in.applyTransition, findResult, show)
}

func (in *Internal) mountTickets(r *server.Internal, findResult func(*fiber.Ctx) ([]byte, error)) {
	show := server.Plain(showTicket)
	server.MountIdempotent(r, bookingclient.SellTickets, in.sellTickets, findResult, in.answerRepeatedSale,
		decodeNewTicket)
	server.Mount(r, bookingclient.ListTickets, in.listTickets)
	server.Mount(r, bookingclient.CountTicketsAhead, in.countTicketsAhead)
	server.Mount(r, bookingclient.CountSales, in.countSales, decodeSales)
	server.Mount(r, bookingclient.ReadTicket, server.ShowResult(in.readTicket, showTicket))
	server.Mount(r, bookingclient.ReadTicketLink, in.newLinkReader(event.Ticket))
	server.Mount(r, bookingclient.PreviewTicketCancellation, in.previewTicketCancellation)
	server.MountResult(r, bookingclient.CancelTickets, in.cancelTickets, findResult, show, decodeRefund)
	server.MountResult(r, bookingclient.RefundTickets, in.refundTickets, findResult, show, decodeRefund)
}

// storePublished stores the version of a business's newest offer. When an owner publishes an
// offer, the catalog service sends this request before it answers the owner.
func (in *Internal) storePublished(ctx context.Context,
	r bookingclient.With[booking.PublishedOffer]) (*endpoints.None, error) {
	return nil, in.records.StorePublished(ctx, r.At.Business, r.Body.Version)
}

func decodePublished(body []byte, r *bookingclient.With[booking.PublishedOffer]) error {
	if err := json.Unmarshal(body, &r.Body); err != nil || r.Body.Version < 1 {
		return fault.New(fault.InvalidParameter,
			`version: missing or not a whole number from 1 on; send {"version": 3}.`)
	}
	return nil
}

func (in *Internal) storeAddressChanges(ctx context.Context,
	r bookingclient.With[booking.AddressChanges]) (*endpoints.None, error) {
	return nil, in.records.StoreAddressChanges(ctx, r.At.Business, r.Body, in.clock.Now())
}

func (in *Internal) countRelocated(ctx context.Context,
	r bookingclient.With[booking.AddressChanges]) (*booking.AheadCount, error) {
	n, err := in.records.CountRelocated(ctx, r.At.Business, r.Body.Places, in.clock.Now())
	return &booking.AheadCount{Count: n}, err
}

func decodeAddressChanges(body []byte, r *bookingclient.With[booking.AddressChanges]) error {
	if err := json.Unmarshal(body, &r.Body); err != nil || len(r.Body.Places) > booking.MaxAddressChanges {
		return fault.Newf(fault.InvalidParameter, "places: send at most %d places.", booking.MaxAddressChanges)
	}
	return nil
}

func (in *Internal) serveOccupied(c *fiber.Ctx) error {
	businessID, err := readBusiness(c)
	if err != nil {
		return err
	}
	from, to, err := parseWindow(c.Query("from"), c.Query("to"))
	if err != nil {
		return err
	}
	except, err := server.Query(c).OptionalID("moving")
	if err != nil {
		return err
	}
	occupied, err := in.readOccupied(c.UserContext(), businessID, from, to, booking.OccupiedQuery{
		Seats: c.Query("seats") == "true", Locations: c.Query("locations") == "true", Except: except,
	})
	if err != nil {
		return err
	}
	body, err := occupied.AppendBinary(nil)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, booking.OccupiedType)
	return c.Send(body)
}

// readOccupied reads the occupied time of a business in a window. The arguments `from`
// (included) and `to` (excluded) are the limits of the window. The argument
// `asked` selects further data, and a booking whose time is left out.
func (in *Internal) readOccupied(ctx context.Context, businessID uuid.UUID, from, to time.Time,
	asked booking.OccupiedQuery) (booking.Occupied, error) {
	req := store.SnapshotRequest{Seats: asked.Seats, Locations: asked.Locations}
	if asked.Except != nil {
		req.Except = *asked.Except
	}
	now, err := in.records.Snapshot(ctx, businessID, from, to, req)
	return now.Occupied, err
}

// parseWindow parses the start and the end of a window, in Unix seconds. Fault: invalid_parameter
// if a value is invalid, or if the window is empty or longer than [booking.MaxOccupiedWindow].
func parseWindow(from, to string) (time.Time, time.Time, error) {
	start, err := parseInstant("from", from)
	if err != nil {
		return time.Time{}, time.Time{}, err
	}
	end, err := parseInstant("to", to)
	if err != nil {
		return time.Time{}, time.Time{}, err
	}
	if length := end.Sub(start); length <= 0 || length > booking.MaxOccupiedWindow {
		return time.Time{}, time.Time{}, fault.Newf(fault.InvalidParameter,
			"to: the window must end after it begins and be at most %d days long.",
			int(booking.MaxOccupiedWindow.Hours()/24))
	}
	return start, end, nil
}

// maxSeconds is the largest absolute value of an instant in Unix seconds: about 8,700
// years. The maximum keeps the year of an instant in the range that dates support.
const maxSeconds = 1 << 38

func parseInstant(name, text string) (time.Time, error) {
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < -maxSeconds || seconds > maxSeconds {
		return time.Time{}, fault.Newf(fault.InvalidParameter, "%s: send an instant in whole seconds since "+
			"1970-01-01T00:00:00Z.", name)
	}
	return time.Unix(seconds, 0), nil
}

func (in *Internal) createKey(ctx context.Context, r bookingclient.With[booking.NewKey]) (*booking.Key, error) {
	key, secret, err := in.owner.CreateKey(ctx, actor.Of(ctx), r.At.Business, r.Body)
	if err != nil {
		return nil, err
	}
	rendered := showKey(key)
	rendered.Secret = secret
	return &rendered, nil
}

func decodeNewKey(body []byte, r *bookingclient.With[booking.NewKey]) error {
	if err := json.Unmarshal(body, &r.Body); err != nil {
		return fault.Newf(fault.InvalidParameter,
			"The body must be {\"name\": \"…\", \"scope\": \"read\", \"write\" or \"all\", \"expires_at\": an RFC "+
				"3339 instant or null}: %s.", describeJSONError(err))
	}
	return nil
}

func refuseRepeatedKey(_ context.Context, _ bookingclient.With[booking.NewKey], answer []byte) (*booking.Key, error) {
	var existing store.KeyExistsError
	if err := json.Unmarshal(answer, &existing); err != nil {
		return nil, err
	}
	return nil, usecase.NewKeyExistsFault(existing.ID)
}

// describeJSONError describes an error of json.Unmarshal for an error message.
// If a field has the wrong type, the description names the field.
func describeJSONError(err error) string {
	var typeErr *json.UnmarshalTypeError
	if errors.As(err, &typeErr) && typeErr.Field != "" {
		return fmt.Sprintf("%s is a %s", request.FieldOf(typeErr), typeErr.Value)
	}
	var instant *time.ParseError
	if errors.As(err, &instant) {
		return "expires_at is no RFC 3339 instant"
	}
	return "it is not a JSON object"
}

func (in *Internal) listKeys(ctx context.Context, r bookingclient.PageRequest) (*booking.KeyList, error) {
	keys, next, err := in.records.Keys(ctx, r.Business, r.Page)
	if err != nil {
		return nil, err
	}
	return &booking.KeyList{Keys: convertAll(keys, showKey), NextCursor: next}, nil
}

func (in *Internal) revokeKey(ctx context.Context, r bookingclient.KeyID) (*endpoints.None, error) {
	return nil, in.owner.RevokeKey(ctx, actor.Of(ctx), r.Business, r.ID)
}

func (in *Internal) revokeAllKeys(ctx context.Context, r endpoints.OfBusiness) (*endpoints.None, error) {
	return nil, in.owner.RevokeAllKeys(ctx, actor.Of(ctx), r.Business)
}

func (in *Internal) listBookings(ctx context.Context, r bookingclient.BookingsRequest) (*booking.BookingList, error) {
	bookings, next, err := in.records.Bookings(ctx, r.Business, r.Filter.Filter, r.Page)
	if err != nil {
		return nil, err
	}
	return &booking.BookingList{Bookings: convertAll(bookings, in.showBooking), NextCursor: next}, nil
}

func (in *Internal) readBooking(ctx context.Context, r bookingclient.BookingID) (store.Booking, error) {
	stored, err := in.records.Booking(ctx, r.Business, r.ID)
	if errors.Is(err, store.ErrNotFound) {
		return store.Booking{}, fault.New(fault.NotFound, "Booking not found")
	}
	return stored, err
}

func (in *Internal) countAhead(ctx context.Context, r endpoints.OfBusiness) (*booking.AheadCount, error) {
	n, err := in.records.CountAhead(ctx, r.Business, in.clock.Now())
	return &booking.AheadCount{Count: n}, err
}

func (in *Internal) applyTransition(ctx context.Context, r bookingclient.TransitionRequest) (store.Booking, error) {
	return in.owner.ApplyTransition(ctx, actor.Of(ctx), r.Business, r.ID, state.TransitionName(r.Transition))
}
