package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

// wireRequest and wireItem are the JSON form of [pricing.QuotesRequest] and [pricing.Item]. Values
// are decoded as strings and parsed one by one, so that a fault can name the item and the field.
type wireRequest struct {
	Slug         string            `json:"slug"`
	OfferVersion int64             `json:"offer_version"`
	PurchaseAt   string            `json:"purchase_at"`
	Items        []json.RawMessage `json:"items"`
	OmitSteps    bool              `json:"omit_steps"`
	Together     bool              `json:"together"`
}

type wireItem struct {
	Kind         string  `json:"kind"`
	ID           string  `json:"id"`
	TierID       *string `json:"tier_id"`
	VariantID    *string `json:"variant_id"`
	Date         string  `json:"date"`
	Start        *string `json:"start"`
	PartySize    *int    `json:"party_size"`
	FirstBooking *bool   `json:"first_booking"`
	Units        *int    `json:"units"`
}

// readRequest parses the body into the argument `into` and checks
// the values. Fault: invalid_parameter, which names the field.
func readRequest(body []byte, into *pricing.QuotesRequest) error {
	var wire wireRequest
	if err := json.Unmarshal(body, &wire); err != nil {
		return describeParseError("", err)
	}
	if wire.Slug == "" {
		return newInvalidFault("slug", "is missing; write the business's slug")
	}
	if wire.OfferVersion < 0 {
		return newInvalidFault("offer_version", "is below 0; write the version of the offer that the caller has, or 0 "+
			"for any")
	}
	purchaseAt, err := time.Parse(time.RFC3339Nano, wire.PurchaseAt)
	if err != nil {
		return newInvalidFault("purchase_at", "is not an instant; write one such as 2027-03-01T09:00:00Z")
	}
	if len(wire.Items) > pricing.MaxItems {
		return newInvalidFault("items", fmt.Sprintf("are %d; send at most %d at once", len(wire.Items),
			pricing.MaxItems))
	}
	*into = pricing.QuotesRequest{
		Slug: wire.Slug, OfferVersion: wire.OfferVersion, PurchaseAt: purchaseAt, OmitSteps: wire.OmitSteps,
		Together: wire.Together,
		Items:    make([]pricing.Item, len(wire.Items)),
	}
	for i, raw := range wire.Items {
		if into.Items[i], err = readItem(formatItemPath(i), raw); err != nil {
			return err
		}
	}
	return nil
}

func formatItemPath(i int) string { return fmt.Sprintf("items[%d]", i) }

// readItem parses one item. The argument `path` is the path of the item in the body, such as items[3].
func readItem(path string, raw json.RawMessage) (pricing.Item, error) {
	var wire wireItem
	if err := json.Unmarshal(raw, &wire); err != nil {
		return pricing.Item{}, describeParseError(path, err)
	}
	r := itemReader{path: path}
	item := pricing.Item{
		Kind:         wire.Kind,
		ID:           r.readID("id", &wire.ID),
		PartySize:    r.checkAtLeastOne("party_size", wire.PartySize),
		FirstBooking: wire.FirstBooking,
	}
	switch wire.Kind {
	case pricing.KindService:
		item.VariantID = r.readOptionalID("variant_id", wire.VariantID)
		r.refuseFields("service", "tier_id", wire.TierID != nil, "units", wire.Units != nil)
	case pricing.KindEvent:
		tier := r.readID("tier_id", wire.TierID)
		item.TierID = &tier
		r.refuseFields("event", "variant_id", wire.VariantID != nil, "units", wire.Units != nil)
		return item, r.err // an event has its own date and start, so the request has none
	case pricing.KindRental:
		item.Units = r.checkAtLeastOne("units", wire.Units)
		r.refuseFields("rental", "tier_id", wire.TierID != nil, "variant_id", wire.VariantID != nil)
	default:
		r.fail("kind", "is none; write service, event or rental")
	}
	item.Date = r.readDate("date", wire.Date)
	item.Start = r.readStart("start", wire.Start)
	return item, r.err
}

// itemReader parses the fields of one item and keeps the first error. The
// field `path` is the path of the item in the body, such as items[3].
type itemReader struct {
	path string
	err  error
}

func (r *itemReader) fail(field, problem string) {
	if r.err == nil {
		r.err = newInvalidFault(r.path+"."+field, problem)
	}
}

func (r *itemReader) readID(field string, text *string) uuid.UUID {
	if text == nil {
		r.fail(field, "is missing; write a UUID")
		return uuid.Nil
	}
	id, err := uuid.Parse(*text)
	if err != nil || id == uuid.Nil {
		r.fail(field, "is not an id; write a UUID")
	}
	return id
}

func (r *itemReader) readOptionalID(field string, text *string) *uuid.UUID {
	if text == nil {
		return nil
	}
	id := r.readID(field, text)
	return &id
}

func (r *itemReader) readDate(field, text string) timespan.Date {
	d, err := timespan.ParseDate(text)
	if err != nil {
		r.fail(field, err.Error())
	}
	return d
}

func (r *itemReader) readStart(field string, text *string) *timespan.TimeOfDay {
	if text == nil {
		return nil
	}
	t, err := timespan.ParseTimeOfDay(*text)
	if err != nil {
		r.fail(field, err.Error())
	} else if t == timespan.MinutesPerDay {
		r.fail(field, "is 24:00; write 00:00 of the next day")
	}
	return &t
}

func (r *itemReader) checkAtLeastOne(field string, n *int) *int {
	if n != nil && *n < 1 {
		r.fail(field, "is below 1; write a whole number from 1 on, or leave it out")
	}
	return n
}

// refuseFields sets an error if the request contains a field that an item of this kind
// must not have. The arguments `field` and `other` are the names of two such fields. The
// arguments `written` and `otherWritten` report whether the request contains these fields.
func (r *itemReader) refuseFields(kind, field string, written bool, other string, otherWritten bool) {
	if written {
		r.fail(field, "does not go with kind "+kind+"; leave it out")
	}
	if otherWritten {
		r.fail(other, "does not go with kind "+kind+"; leave it out")
	}
}

func newInvalidFault(field, problem string) error {
	return fault.Newf(fault.InvalidParameter, "%s: %s.", field, problem)
}

// describeParseError returns a fault for JSON with a wrong type. The fault names the field that `err`
// names. If `err` names no field, the fault names `path`. An empty path stands for the whole body.
func describeParseError(path string, err error) error {
	var typeErr *json.UnmarshalTypeError
	if !errors.As(err, &typeErr) || typeErr.Field == "" {
		if path == "" {
			path = "body"
		}
		return newInvalidFault(path, "is not the JSON object it should be")
	}
	field := typeErr.Field
	if path != "" {
		field = path + "." + field
	}
	return newInvalidFault(field, "is a JSON "+typeErr.Value+"; write a value of its type")
}
