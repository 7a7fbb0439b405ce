package api

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/bookingclient"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
	bookingrequest "github.com/slotmesh/slotmesh/services/booking/internal/request"
	"github.com/slotmesh/slotmesh/services/booking/internal/store"
	"github.com/slotmesh/slotmesh/services/booking/internal/usecase"
)

// reschedule changes the time of a booking. The actor of the change is the actor of the request.
func (in *Internal) reschedule(ctx context.Context,
	r bookingclient.BookingChange[bookingclient.RescheduleRequest]) (store.Booking, error) {
	to, err := parseReschedule(r.Body)
	if err != nil {
		return store.Booking{}, err
	}
	offer, err := in.owner.Offer(ctx, r.At.Business, r.Body.Slug)
	if err != nil {
		return store.Booking{}, usecase.NewUnverifiedFault(err)
	}
	return in.booker.Reschedule(ctx, offer, actor.Of(ctx), r.At.ID, to)
}

// parseReschedule parses the new time of a booking. Fault: invalid_parameter.
func parseReschedule(r bookingclient.RescheduleRequest) (usecase.Reschedule, error) {
	to := usecase.Reschedule{Override: r.Override, BoundsRefund: r.BoundsRefund}
	var err error
	if to.Date, err = request.Date("date", r.Date); err != nil {
		return to, err
	}
	if to.Time, err = request.Time("time", r.Time); err != nil {
		return to, err
	}
	if to.Time == timespan.MinutesPerDay {
		return to, request.Invalid("time: nothing starts at 24:00; send 00:00 and the next date.")
	}
	if to.StaffID, err = parseOptionalID("staff_id", r.StaffID); err != nil {
		return to, err
	}
	if to.LocationID, err = parseOptionalID("location_id", r.LocationID); err != nil {
		return to, err
	}
	if to.Address, err = parseAddress(r.Address); err != nil {
		return to, err
	}
	to.ClassScheduleID, err = parseOptionalID("class_schedule_id", r.ClassScheduleID)
	return to, err
}

// relocate changes the location of a booking. The actor of the change is the actor of the request.
func (in *Internal) relocate(ctx context.Context,
	r bookingclient.BookingChange[bookingclient.RelocateRequest]) (store.Booking, error) {
	location, errID := request.ID("location_id", r.Body.LocationID)
	address, errAddress := parseAddress(r.Body.Address)
	if err := cmp.Or(errID, errAddress); err != nil {
		return store.Booking{}, err
	}
	offer, err := in.owner.Offer(ctx, r.At.Business, r.Body.Slug)
	if err != nil {
		return store.Booking{}, usecase.NewUnverifiedFault(err)
	}
	return in.booker.Relocate(ctx, offer, actor.Of(ctx), r.At.ID, location, address)
}

// parseAddress checks the customer's address in the field `address`, or nil. Fault: invalid_parameter.
func parseAddress(a *booking.CustomerAddress) (*booking.CustomerAddress, error) {
	text, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	return bookingrequest.ParseAddress("address", text)
}

func parseOptionalID(name string, text *string) (*uuid.UUID, error) {
	if text == nil {
		return nil, nil
	}
	id, err := request.ID(name, *text)
	return &id, err
}
