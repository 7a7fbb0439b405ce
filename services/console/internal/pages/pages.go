// Package pages serves the owner's pages (pages.md). Each handler parses the request, calls one use case and renders
// one view. Each route is registered with an action. The table of permissions in internal/identity/access decides which
// roles may do this action. Pages hide the actions that the signed-in person may not do.
package pages

import (
	"cmp"
	"errors"
	"net/url"
	"regexp"
	"slices"

	"github.com/gofiber/fiber/v2"
	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/actor"
	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/rental"
	"github.com/slotmesh/slotmesh/libs/platform/request"
	"github.com/slotmesh/slotmesh/libs/platform/server"
	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/libs/values/fault"
	"github.com/slotmesh/slotmesh/libs/values/locale"
	"github.com/slotmesh/slotmesh/libs/values/message"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/access"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/authorize"
	"github.com/slotmesh/slotmesh/services/console/internal/identity/signin"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/assets"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/sealed"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/texts"
	"github.com/slotmesh/slotmesh/services/console/internal/pages/view"
	"github.com/slotmesh/slotmesh/services/console/internal/rooms"
)

// Pages serves the owner's pages.
type Pages struct {
	rooms     *rooms.Rooms
	addresses Addresses
	texts     *message.Catalog
	assets    *web.Assets
	box       *sealed.Box
}

// New returns the pages for the use cases in `all`. The first secret in `secrets` encrypts customers' data in the URLs
// of pages. Each of the secrets can decrypt the data, so that old URLs stay valid while a new secret replaces an old
// one.
func New(all *rooms.Rooms, addresses Addresses, secrets ...string) (*Pages, error) {
	sentences, textErr := texts.Load()
	files, fileErr := web.NewAssets(assets.Files, "/assets")
	box, boxErr := sealed.New(secrets...)
	if err := errors.Join(textErr, fileErr, boxErr); err != nil {
		return nil, err
	}
	return &Pages{rooms: all, addresses: addresses, texts: sentences, assets: files, box: box}, nil
}

// Mount adds the routes of all pages, each with the action that the signed-in person must be permitted to do. The
// handler `admit` authenticates the caller.
func (p *Pages) Mount(router fiber.Router, admit fiber.Handler) {
	p.assets.Mount(router)
	router.Get("/", admit)
	router.Get("/media/:file", admit)
	router.Use("/business", admit, p.unseal)
	all := authorize.New(router, "", p.rooms.FindBusiness, p.rooms.Accounts)
	all.Get("/", access.SeeBusinesses, p.chooseBusiness)
	all.Get("/media/:file", access.SignedIn, p.sendPicture)
	business := all.Below("/business/:slug")
	business.Get("", access.SignedIn, p.redirectToToday)
	business.Get("/more", access.SignedIn, p.showMore)
	business.Get("/today", access.SeeBookings, p.showToday)
	business.Get("/calendar", access.SeeBookings, p.showCalendar)
	business.Get("/time-off", access.EditOffer, p.showTimeOff)
	business.Post("/time-off", access.EditOffer, p.setTimeOff)
	p.mountAffected(business)
	p.mountEvents(business)
	p.mountRentals(business)
	p.mountClasses(business)
	p.mountPause(business)
	p.mountWhyNot(business)
	p.mountSearch(business)
	p.mountFirst(all, business)
	p.mountTeam(business)
	business.Get("/bookings", access.SeeBookings, p.listBookings)
	business.Post("/bookings", access.SeeBookings, p.redirectToSearch)
	business.Get("/bookings.csv", access.Refund, p.exportBookings)
	business.Get("/bookings/new", access.Serve, p.askBooking)
	business.Post("/bookings/new", access.Serve, p.book)
	business.Post("/bookings/new/customer", access.Serve, p.searchCustomer)
	business.Get("/bookings/:id", access.SeeBookings, p.showBooking)
	business.Post("/bookings/:id/"+booking.TransitionConfirm, access.Serve,
		p.newTransitionHandler(booking.TransitionConfirm))
	business.Post("/bookings/:id/"+booking.TransitionComplete, access.Finish,
		p.newTransitionHandler(booking.TransitionComplete))
	business.Post("/bookings/:id/"+booking.TransitionNoShow, access.Finish,
		p.newTransitionHandler(booking.TransitionNoShow))
	business.Post("/bookings/:id/"+booking.TransitionReopen, access.Finish,
		p.newTransitionHandler(booking.TransitionReopen))
	p.mountOrders(business, "/bookings", access.Serve, access.Refund, p.findBookingOrder)
	business.Get("/bookings/:id/move", access.Serve, p.askReschedule)
	business.Post("/bookings/:id/move", access.Serve, p.reschedule)
	business.Post("/bookings/:id/drop", access.Serve, p.dropBooking)
	p.mountOffer(business)
	p.mountCustomers(business)
	p.mountMessages(business)
	p.mountReports(business)
	p.mountIntegrations(business)
}

// newPlainPage returns a page that belongs to no business. The page has the language that the person has chosen,
// otherwise the language of the browser, otherwise the language `own`.
func (p *Pages) newPlainPage(c *fiber.Ctx, own string) *view.Page {
	page := &view.Page{
		May:    func(a access.Action) bool { return authorize.Principal(c).WidestPermission(a) != access.None },
		MayUse: func(location uuid.UUID) bool { return actor.MayUse(c.UserContext(), location) },
		Now:    p.rooms.Clock.Now(), Seal: p.box.SealPath, Style: p.assets.Path("owner.css"),
		Script: p.assets.Path("owner.js"),
	}
	chosen := c.Query("lang")
	if signed := signin.SignedInPerson(c); signed != nil {
		page.Person = cmp.Or(signed.Person.Name, signed.Person.Email)
		chosen = cmp.Or(chosen, signed.Person.Language)
	}
	page.Words = words.In(p.texts, web.Languages(chosen, c.Get(fiber.HeaderAcceptLanguage), own)...)
	return page
}

// newPage returns the data that every page of a business needs. The slug of the business is in the path; the argument
// `place` is the menu entry of the page. Faults: business_not_found; service_unavailable.
func (p *Pages) newPage(c *fiber.Ctx, place view.Place) (*view.Page, error) {
	slug, err := server.Slug(c)
	if err != nil {
		return nil, err
	}
	business := authorize.Business(c)
	if business == nil {
		if business, err = p.rooms.FindBusiness(c.UserContext(), slug); err != nil {
			return nil, err
		}
	}
	page := p.newPlainPage(c, business.DefaultLanguage)
	page.Business, page.Place, page.Seal = business, place, p.box.ForBusiness(business.Slug).SealPath
	page.Words.SetRegion(locale.RegionOf(business.Timezone))
	page.May = func(a access.Action) bool { return authorize.Principal(c).PermissionIn(business.ID, a) != access.None }
	principal := authorize.Principal(c)
	page.CanSwitch = principal.WidestPermission(access.CreateBusiness) != access.None || len(principal.Businesses()) > 1
	page.CanSearch = authorize.Principal(c).PermissionIn(business.ID, access.SeeBookings) != access.NoContact
	page.Notice = doneText(page, c.Query("done"))
	page.ErrorText = refusalText(page, c.Query("wrong"))
	return page, nil
}

// doneText returns the message text about a completed action. The argument `label` is the value of the query parameter
// `done`. If the value is unknown, doneText returns "".
func doneText(page *view.Page, label string) string {
	if slices.Contains(integrationNotices, label) {
		return page.Words.Say("done_" + label)
	}
	switch label {
	case "affected", "sold", "tickets_cancel", "reserved", "reserved_outside", "reservation_cancel", "undone", "off", "work",
		"team_changed", "team_removed", "team_withdrawn", "team_made_ended", messageResent,
		customerSaved, customersMerged, customersSeparated, customersImported, importUndone:
		return page.Words.Say("done_" + label)
	case "booked", "booked_warned", "moved", "moved_warned", "refunded", "paused", "resumed", booking.TransitionConfirm,
		booking.TransitionCancel, booking.TransitionComplete, booking.TransitionNoShow,
		booking.TransitionReopen, rental.TransitionPickup, rental.TransitionReturn:
		return page.Words.Say("done_" + label)
	}
	return ""
}

// refusalText returns the message text about a refused action. The argument `label` is the value of the query parameter
// `wrong`. If the value is unknown, refusalText returns "".
func refusalText(page *view.Page, label string) string {
	if label == "delivery_waits" {
		return page.Words.Say(label)
	}
	for _, sentence := range faultTexts {
		if sentence == label {
			return page.Words.Say(sentence)
		}
	}
	return ""
}

// render renders a page and sets its headers. Browsers must not cache the page, because it may contain customers' data.
func (p *Pages) render(c *fiber.Ctx, status int, page *view.Page, content view.Content) error {
	web.Protect(c, web.Policy{Nonce: page.Nonce})
	c.Set(fiber.HeaderCacheControl, "no-store")
	if err := web.Render(c, status, view.Document(page, content)); err != nil {
		return err
	}
	return page.Words.Fault()
}

// ShowFault shows a page about a fault. The page has no internal details, and tells the person what to do next.
// ShowFault implements [server.ShowFault].
func (p *Pages) ShowFault(c *fiber.Ctx, f *fault.Error) error {
	page := p.newPlainPage(c, "")
	if f.Kind == fault.PayloadTooLarge && isMultipart(c) {
		page.ErrorText = page.Words.Say("picture_large")
	}
	return p.render(c, f.Kind.Status, page, view.Fault(page, f.Kind.Status))
}

// chooseBusiness lists the businesses of the signed-in person. If there is only one business, and the person may not
// create another, chooseBusiness redirects to the pages of this business.
func (p *Pages) chooseBusiness(c *fiber.Ctx) error {
	limited, err := server.Query(c).Page()
	if err != nil {
		return err
	}
	list, err := p.rooms.Businesses.List(c.UserContext(), authorize.Principal(c).Businesses(), limited)
	if err != nil {
		return err
	}
	page := p.newPlainPage(c, "")
	if !page.May(access.CreateBusiness) && len(list.Businesses) == 1 && list.NextCursor == "" && limited.Cursor == "" {
		return c.Redirect(view.Path(list.Businesses[0].Slug)+"/today", fiber.StatusSeeOther)
	}
	return p.render(c, fiber.StatusOK, page, view.Choose(page, list.Businesses, list.NextCursor))
}

// redirectToToday redirects to the page Today, which is the first page of a business.
func (p *Pages) redirectToToday(c *fiber.Ctx) error {
	slug, err := server.Slug(c)
	if err != nil {
		return err
	}
	return c.Redirect(view.Path(slug)+"/today", fiber.StatusSeeOther)
}

func (p *Pages) showMore(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceMore)
	if err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, page, view.More(page))
}

func (p *Pages) showToday(c *fiber.Ctx) error {
	page, err := p.newPage(c, view.PlaceToday)
	if err != nil {
		return err
	}
	t, err := p.rooms.Sales.LoadToday(c.UserContext(), authorize.Principal(c), page.Business.Slug)
	if err != nil {
		return err
	}
	return p.render(c, fiber.StatusOK, page, view.Today(page, t))
}

// newPageWithID returns the data that [Pages.newPage] returns, and the id in the path.
func (p *Pages) newPageWithID(c *fiber.Ctx, place view.Place) (*view.Page, uuid.UUID, error) {
	page, err := p.newPage(c, place)
	if err != nil {
		return nil, uuid.Nil, err
	}
	id, err := parseID(c)
	return page, id, err
}

// parseID returns the id in the path. Fault: not_found if it is not a UUID.
func parseID(c *fiber.Ctx) (uuid.UUID, error) {
	id, err := request.ID("id", c.Params("id"))
	if err != nil {
		return uuid.Nil, fault.New(fault.NotFound, "There is nothing at this path.")
	}
	return id, nil
}

// readQuery returns the query parameters of the request, except `done` and `wrong`, which report the result of the last
// action.
func readQuery(c *fiber.Ctx) url.Values {
	values, err := url.ParseQuery(string(c.Request().URI().QueryString()))
	if err != nil {
		return url.Values{}
	}
	values.Del("done")
	values.Del("wrong")
	return values
}

// redirectBack redirects to a page of the business. This page shows the result of an action, because the URL gets a
// query parameter. The argument `parameter` is the name of this query parameter, "done" or "wrong". The argument
// `value` is its value, the id of a message text.
//
// The argument `back` is the path and the query of the page, relative to the path of the business. A form sends `back`,
// and a forged form could send the URL of another site. So redirectBack redirects to the page Today if `back` is not a
// valid relative path.
func redirectBack(c *fiber.Ctx, slug, back, parameter, value string) error {
	at, err := url.Parse(back)
	if err != nil || at.IsAbs() || at.Host != "" || !relativePath.MatchString(at.Path) {
		at = &url.URL{Path: "today"}
	}
	values := at.Query()
	values.Set(parameter, value)
	sealQuery(c, values)
	return c.Redirect(view.Path(slug)+"/"+at.EscapedPath()+"?"+values.Encode(), fiber.StatusSeeOther)
}

// relativePath matches the path of a page relative to the path of its business.
var relativePath = regexp.MustCompile(`^[a-z][a-z-]*(/[0-9a-z-]+)*$`)

// newTransitionHandler returns the handler that changes the status of a booking. The argument `transition` is the name
// of the transition, such as confirm. If the transition is not possible, the handler redirects to the previous page,
// which shows the booking's present status.
func (p *Pages) newTransitionHandler(transition string) fiber.Handler {
	return p.newButtonHandler(transition, func(c *fiber.Ctx, slug string, id uuid.UUID) error {
		form, err := web.Form(c)
		if err == nil {
			_, err = p.rooms.Sales.TransitionBooking(withNotification(c, form), authorize.Principal(c), slug, id,
				transition)
		}
		return err
	})
}

// newButtonHandler returns the handler of a form that has only a button. The handler calls `do` and redirects to the
// previous page, which shows the message text with the id `done`. If the action is refused and the person can solve the
// fault, the previous page shows the reason for the refusal instead.
func (p *Pages) newButtonHandler(done string, do func(*fiber.Ctx, string, uuid.UUID) error) fiber.Handler {
	return func(c *fiber.Ctx) error {
		form, err := web.Form(c)
		if err != nil {
			return err
		}
		slug, err := server.Slug(c)
		if err != nil {
			return err
		}
		id, err := parseID(c)
		if err != nil {
			return err
		}
		err = do(c, slug, id)
		if sentence := faultTexts[fault.KindOf(err)]; err != nil && sentence != "" {
			return redirectBack(c, slug, form.Get("back"), "wrong", sentence)
		}
		if err != nil {
			return err
		}
		return redirectBack(c, slug, form.Get("back"), "done", done)
	}
}

// faultTexts maps the codes of faults that a person can solve to the ids of message texts.
var faultTexts = map[fault.Kind]string{
	fault.Conflict: "changed", fault.SlotUnavailable: "taken", fault.NoStaffAvailable: "nobody_free",
	fault.ServiceNotFound: "not_offered", fault.LocationNotFound: "not_offered", fault.OutsideArea: "outside_area",
	fault.BeforeBookingDay: "before_its_day", fault.TooLateToReopen: "too_late_to_reopen",
	fault.NotEnoughUnits: "units_out", fault.DateInPast: "why_past", fault.Closed: "why_closed_staff",
	fault.NotAStart: "why_no_session", fault.StaffNotFound: "staff_unfit",
	fault.SubscriptionInactive: "account_closed", fault.AccountClosing: "account_closed",
	fault.NotAcceptingBookings: "paused",
	fault.NotOpenYet:           "first_unopened",
	fault.PeerUnavailable:      "fault_later", fault.AvailabilityUnverified: "fault_later",
	fault.PaymentUnavailable: "no_payment", fault.PaymentNotOffered: "no_payment",
	fault.OutcomeUnknown: "outcome_unknown", fault.IdempotencyInProgress: "in_progress",
	fault.IdempotencyMismatch: "sent_already",
}

// findBooking returns the data that the page of a booking needs, and the booking whose id is in the path.
func (p *Pages) findBooking(c *fiber.Ctx) (*view.Page, *booking.Booking, error) {
	page, id, err := p.newPageWithID(c, view.PlaceBookings)
	if err != nil {
		return nil, nil, err
	}
	b, err := p.rooms.Sales.FindBooking(c.UserContext(), authorize.Principal(c), page.Business.Slug, id)
	return page, b, err
}

// readListQuery returns the query, with "?", of the list from which the person opened a booking. If the query is empty,
// it returns "" without "?".
func readListQuery(c *fiber.Ctx) string {
	if values := readQuery(c); len(values) > 0 {
		return "?" + values.Encode()
	}
	return ""
}

// redirectToBooking redirects to the page of a booking after an action. The argument `done` is the id of the message
// text that the page shows.
func redirectToBooking(c *fiber.Ctx, business *catalog.Snapshot, id uuid.UUID, done string) error {
	return redirectBack(c, business.Slug, "bookings/"+id.String()+readListQuery(c), "done", done)
}
