package pages

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/platform/web"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
	"github.com/slotmesh/slotmesh/services/console/internal/offer/form"
)

// ordering is the part of the manifest that has the order in which customers see the objects of a kind.
type ordering int

const (
	notOrdered        ordering = iota // dates or other fields decide the order
	orderedByField                    // the field `order` of each object
	orderedByPosition                 // the position of each object in the list
)

// orderObjects returns the handler that moves an object of a kind in its list. It changes the newest version, because a
// merge with another change of the list would drop the new order.
func (p *Pages) orderObjects(k offerKind) fiber.Handler {
	return func(c *fiber.Ctx) error {
		posted, err := web.Form(c)
		if err != nil {
			return err
		}
		o, err := p.loadOfferPage(c, k.section, 0)
		if err != nil {
			return err
		}
		back := "/offer/" + k.section
		if !k.moveObject(o.fields, posted.Get("key"), posted.Get("to"), posted.Get("before")) {
			return toOffer(c, o, back, url.Values{"wrong": {"changed"}})
		}
		return p.publishOffer(c, o, submission{
			posted: posted, result: &form.Result{}, back: back,
			action:         string(c.Request().URI().Path()),
			findEditedPath: func(document.Fields) string { return "-" },
			showForm: func(status int, _ map[string]string) error {
				fresh, err := p.loadOfferPage(c, k.section, 0)
				if err != nil {
					return err
				}
				fresh.page.ErrorText, fresh.about.Problems = o.page.ErrorText, o.about.Problems
				return p.showList(c, status, k, fresh)
			},
		})
	}
}

// moveObject moves the object with the given key among the objects of its category. The argument `to` is "forward",
// "back" or "before". With "before", the object comes before the object with the key `before`, or last if `before` is
// "". moveObject reports whether the object has another place then.
func (k offerKind) moveObject(fields document.Fields, key, to, before string) bool {
	items := k.listItems(fields)
	find := func(key string) int {
		return slices.IndexFunc(items, func(item document.Fields) bool { return item["key"] == key })
	}
	from := find(key)
	if from < 0 {
		return false
	}
	moved := items[from]
	var siblings []int // indexes of the objects of the same category
	for i, item := range items {
		if toText(item["category"]) == toText(moved["category"]) {
			siblings = append(siblings, i)
		}
	}
	place := slices.Index(siblings, from)
	switch to {
	case "forward":
		place--
	case "back":
		place++
	case "before":
		place = len(siblings) - 1
		if before != "" {
			place = slices.Index(siblings, find(before))
			if place > slices.Index(siblings, from) {
				place--
			}
		}
	}
	if place < 0 || place >= len(siblings) || siblings[place] == from {
		return false
	}
	target := siblings[place]
	items = slices.Insert(slices.Delete(items, from, from+1), target, moved)
	k.writeOrder(fields, items)
	return true
}

// writeOrder stores the order of the objects of the kind. The argument `items` has the objects that the pages show. The
// other objects of the list, such as the classes among the services, keep their places.
func (k offerKind) writeOrder(fields document.Fields, items []document.Fields) {
	isShown := k.isShown
	k.isShown = nil // the list has the objects of all kinds
	all := k.listItems(fields)
	list := make([]any, len(all))
	for i, item := range all {
		if isShown == nil || isShown(item) {
			item, items = items[0], items[1:]
		}
		list[i] = item
		if k.ordering == orderedByField {
			item["order"] = json.Number(strconv.Itoa(i + 1))
		}
	}
	if k.ordering == orderedByPosition {
		fields[k.list] = list
	}
}
