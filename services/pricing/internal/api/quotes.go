// Package api serves the internal API of pricing. It parses a request, finds each item
// in the offer of the business, and computes the price with the tariff of the business.
package api

import (
	"context"
	"runtime"
	"time"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/catalogclient"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/platform/bulkhead"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/money"
	"github.com/slotmesh/slotmesh/services/pricing/internal/tariff"
)

// Offers returns the offer of a business. Get returns an offer that is at most a few seconds old. AtLeast returns
// the offer of this version or a newer one. Faults: business_not_found; peer_unavailable if no offer can be read.
type Offers interface {
	Get(ctx context.Context, slug string) (*catalog.Snapshot, error)
	AtLeast(ctx context.Context, slug string, version int64) (*catalog.Snapshot, error)
}

var _ Offers = (*catalogclient.Client)(nil)

// Quotes serves POST /internal/quotes.
type Quotes struct {
	offers  Offers
	tariffs *tariffs
	places  *bulkhead.Tenants
}

// A request with at least minLargeItems items is a large request. Bookings have fewer
// items. The large requests of a business share a limited number of places. placeTimeout is
// how long a large request waits for a place. After that time, pricing refuses the request
// with a fault of code rate_limited, which callers do not count as a failure of pricing.
const (
	minLargeItems = 100
	placeTimeout  = 250 * time.Millisecond
)

// NewQuotes returns the handler of POST /internal/quotes. NewQuotes reads the offers from the argument `offers`.
func NewQuotes(offers Offers) *Quotes {
	return &Quotes{offers: offers, tariffs: newTariffs(), places: bulkhead.New(2 * runtime.GOMAXPROCS(0))}
}

// Mount adds the route POST /internal/quotes.
func (q *Quotes) Mount(internal *server.Internal) {
	server.Mount(internal, pricing.Quotes, q.answer, readRequest)
}

func (q *Quotes) answer(ctx context.Context, request pricing.QuotesRequest) (*pricing.QuotesResponse, error) {
	release, err := q.acquirePlace(ctx, &request)
	if err != nil {
		return nil, err
	}
	defer release()
	return q.quote(ctx, &request)
}

// acquirePlace waits until a large request gets one of the places of its business. The caller must call the
// returned function to free the place. A small request needs no place and does not wait. Fault: rate_limited.
func (q *Quotes) acquirePlace(ctx context.Context, request *pricing.QuotesRequest) (func(), error) {
	if len(request.Items) < minLargeItems {
		return func() {}, nil
	}
	placeCtx, cancel := context.WithTimeout(ctx, placeTimeout)
	defer cancel()
	release, err := q.places.Enter(placeCtx, request.Slug)
	if err == nil || ctx.Err() != nil {
		return release, err
	}
	refusal := fault.New(fault.RateLimited,
		"Too many lists of this business are being priced at once; try again shortly.")
	refusal.RetryAfter = time.Second
	return nil, refusal
}

func (q *Quotes) quote(ctx context.Context, request *pricing.QuotesRequest) (*pricing.QuotesResponse, error) {
	offer, err := q.readOffer(ctx, request)
	if err != nil {
		return nil, err
	}
	businessTariff, err := q.tariffs.findTariff(offer)
	if err != nil {
		return nil, err
	}
	list := businessTariff.NewPriceList()
	moment := tariff.NewMoment(request.PurchaseAt, offer.Location())
	quotes := make([]pricing.Quote, len(request.Items))
	for i := range request.Items {
		if err := ctx.Err(); err != nil {
			return nil, err // the deadline has passed, which can happen with many items and many rules
		}
		item, purchase, err := resolve(offer, &request.Items[i], moment)
		if err != nil {
			return nil, err
		}
		if request.OmitSteps && item.Units <= 1 {
			quotes[i] = pricing.Quote{Priced: item.ListPrice > 0, List: item.ListPrice,
				Price: list.Amount(item, purchase)}
			continue
		}
		quotes[i] = newQuote(item, businessTariff.Price(item, purchase), offer.Money())
		if request.OmitSteps {
			quotes[i].Steps = nil
		}
	}
	response := &pricing.QuotesResponse{OfferVersion: offer.Version, Currency: offer.Currency, Quotes: quotes}
	if request.Together {
		response.Package = applyPackage(offer, request, quotes)
	}
	if until, hasEnd := businessTariff.ValidUntil(moment); hasEnd {
		at := time.Unix(until, 0).UTC()
		response.ValidUntil = &at
	}
	return response, nil
}

func (q *Quotes) readOffer(ctx context.Context, request *pricing.QuotesRequest) (*catalog.Snapshot, error) {
	if request.OfferVersion == 0 {
		return q.offers.Get(ctx, request.Slug)
	}
	return q.offers.AtLeast(ctx, request.Slug, request.OfferVersion)
}

// resolve returns the item with its list price from the offer, and the data of the purchase
// for the pricing rules. It also accepts inactive items, because other services decide
// whether an item can be booked. Faults: service_not_found, rental_not_found, not_found.
func resolve(offer *catalog.Snapshot, item *pricing.Item, moment tariff.Moment) (tariff.Item, tariff.Purchase, error) {
	tariffItem := tariff.Item{ID: item.ID}
	purchase := tariff.Purchase{
		Moment: moment, Date: item.Date, Start: item.Start,
		PartySize: item.PartySize, FirstBooking: item.FirstBooking, Units: item.Units,
	}
	var err error
	switch item.Kind {
	case pricing.KindService:
		tariffItem.Kind = tariff.Service
		tariffItem.ListPrice, err = findServicePrice(offer, item)
		if service := offer.Service(item.ID); service != nil && item.PartySize != nil {
			tariffItem.Units = service.Units(*item.PartySize)
		}
	case pricing.KindRental:
		tariffItem.Kind = tariff.Rental
		tariffItem.ListPrice, err = findRentalPrice(offer, item)
	case pricing.KindEvent:
		tariffItem.Kind = tariff.Event
		tariffItem.ListPrice, err = findTierPrice(offer, item)
		if event := offer.Event(item.ID); event != nil {
			purchase.Date, purchase.Start = event.Date, &event.Start
		}
	}
	return tariffItem, purchase, err
}

func findServicePrice(offer *catalog.Snapshot, item *pricing.Item) (int64, error) {
	service := offer.Service(item.ID)
	if service == nil {
		return 0, fault.Newf(fault.ServiceNotFound, "Service not found: %s", item.ID)
	}
	if item.VariantID == nil {
		return service.Price, nil
	}
	for _, v := range service.Variants {
		if v.ID == *item.VariantID {
			return v.Price, nil
		}
	}
	return 0, fault.Newf(fault.NotFound, "Variant not found: %s", item.VariantID)
}

func findRentalPrice(offer *catalog.Snapshot, item *pricing.Item) (int64, error) {
	rental := offer.Rental(item.ID)
	if rental == nil {
		return 0, fault.New(fault.RentalNotFound, "Rental not found")
	}
	return rental.Price, nil
}

func findTierPrice(offer *catalog.Snapshot, item *pricing.Item) (int64, error) {
	event := offer.Event(item.ID)
	if event == nil {
		return 0, fault.Newf(fault.NotFound, "Event not found: %s", item.ID)
	}
	for _, t := range event.Tiers {
		if t.ID == *item.TierID { // TierID is not nil, because readRequest requires it
			return t.Price, nil
		}
	}
	return 0, fault.Newf(fault.NotFound, "Tier not found: %s", item.TierID)
}

// newQuote returns the quote of an item with this price and its steps.
func newQuote(item tariff.Item, price tariff.Price, currency money.Currency) pricing.Quote {
	quote := pricing.Quote{Priced: item.ListPrice > 0, List: item.ListPrice, Price: price.Amount}
	if item.Units > 1 && quote.Priced {
		quote.List, quote.Quantity, quote.Unit = item.ListPrice*int64(item.Units), item.Units, price.UnitPrice
	}
	for _, s := range price.Steps {
		quote.Steps = append(quote.Steps, pricing.Step{
			Rule: s.Rule.Key, Kind: string(s.Rule.Kind), Before: currency.Exact(s.Before),
			After: currency.Exact(s.After),
		})
	}
	return quote
}
