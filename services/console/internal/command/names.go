package command

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/contracts/adminapi"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/manifest"
	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// The kinds of objects in an offer. Error messages contain these texts.
const (
	kindService = "service"
	kindMember  = "member of the staff"
	kindEvent   = "event"
	kindRental  = "rental"
)

// entry is an object of an offer that a person can name by its id, key or name.
type entry struct {
	ID   uuid.UUID `json:"id"`
	Key  string    `json:"key"`
	Name string    `json:"name"`

	// Price is the price of a service or a rental before any pricing rule.
	Price           json.Number `json:"price,omitempty"`
	Currency        string      `json:"currency,omitempty"`
	DurationMinutes int         `json:"duration_minutes,omitempty"` // duration of a service
}

// contents is the manifest of a business in its newest version, with the business's id.
type contents struct {
	id uuid.UUID // id of the business
	*manifest.Manifest
}

// nameResolver replaces the names of services, members and other objects of an offer by their ids. It reads the offer
// only to look up a name. So a command does not read the offer if all of the command's arguments are ids.
type nameResolver struct {
	client *client
	slug   string
	offer  *contents
}

func (c *client) newNameResolver(slug string) *nameResolver {
	return &nameResolver{client: c, slug: slug}
}

// loadContents reads the manifest of a business in its newest version.
func (c *client) loadContents(ctx context.Context, slug string) (*contents, error) {
	text, err := c.do(ctx, adminapi.Request{Method: http.MethodGet, Path: buildPath(slug),
		Header: map[string]string{"Accept": catalog.MediaJSON}})
	if err != nil {
		return nil, err
	}
	m, problems := manifest.Parse(text)
	if len(problems) > 0 {
		return nil, &localError{fmt.Errorf("the offer of %s needs a newer slotmesh: %s", slug, problems[0].Message)}
	}
	if m.ID != nil {
		return &contents{uuid.UUID(*m.ID), m}, nil
	}
	businesses, err := readPages[catalog.Business](ctx, c, "/admin/businesses", "businesses", url.Values{})
	if err != nil {
		return nil, err
	}
	for _, b := range businesses {
		if b.Slug == slug {
			return &contents{b.ID, m}, nil
		}
	}
	return nil, fault.New(fault.BusinessNotFound, "Business not found")
}

// listKind returns all objects of the given kind in an offer. The command looks up names in this list, and completes
// flags with its keys.
func (o *contents) listKind(kind string) []entry {
	var list []entry
	switch kind {
	case kindService:
		for i := range o.Services {
			s := &o.Services[i]
			list = append(list, entry{ID: s.ObjectID(o.id), Key: string(s.Key), Name: string(s.Name),
				Price: json.Number(s.Price.String()), Currency: string(o.Currency), DurationMinutes: s.DurationMinutes})
		}
	case kindMember:
		for i := range o.Staff {
			list = append(list, entry{ID: o.Staff[i].ObjectID(o.id), Key: string(o.Staff[i].Key),
				Name: string(o.Staff[i].Name)})
		}
	case kindEvent:
		for i := range o.Events {
			list = append(list, entry{ID: o.Events[i].ObjectID(o.id), Key: string(o.Events[i].Key),
				Name: string(o.Events[i].Name)})
		}
	case kindRental:
		for i := range o.Rentals {
			r := &o.Rentals[i]
			list = append(list, entry{ID: r.ObjectID(o.id), Key: string(r.Key), Name: string(r.Name),
				Price: json.Number(r.Price.String()), Currency: string(o.Currency)})
		}
	}
	return list
}

func (o *contents) listTiers(event uuid.UUID) []entry {
	var list []entry
	for i := range o.Events {
		e := &o.Events[i]
		for k := 0; e.ObjectID(o.id) == event && k < len(e.Tiers); k++ {
			list = append(list, entry{ID: e.Tiers[k].ObjectID(o.id, e.Key), Key: string(e.Tiers[k].Key),
				Name: string(e.Tiers[k].Name)})
		}
	}
	return list
}

func (o *contents) listAllTiers() []entry {
	var list []entry
	for i := range o.Events {
		list = append(list, o.listTiers(o.Events[i].ObjectID(o.id))...)
	}
	return list
}

// listSessions returns the class sessions of all services. A session has no name, so its key is also its name.
func (o *contents) listSessions() []entry {
	var list []entry
	for i := range o.Services {
		s := &o.Services[i]
		for k := range s.Classes {
			list = append(list, entry{ID: s.Classes[k].ObjectID(o.id, s.Key), Key: string(s.Classes[k].Key),
				Name: string(s.Classes[k].Key)})
		}
	}
	return list
}

func (o *contents) listLocations() []entry {
	var list []entry
	for i := range o.Locations {
		l := &o.Locations[i]
		list = append(list, entry{ID: l.ObjectID(o.id), Key: string(l.Key), Name: string(l.Name)})
	}
	return list
}

func (o *contents) listVariants(service uuid.UUID) []entry {
	var list []entry
	for i := range o.Services {
		s := &o.Services[i]
		for k := 0; s.ObjectID(o.id) == service && k < len(s.Variants); k++ {
			list = append(list, entry{ID: s.Variants[k].ObjectID(o.id, s.Key), Key: string(s.Variants[k].Key),
				Name: string(s.Variants[k].Name)})
		}
	}
	return list
}

// resolve replaces the key or name in each of `texts` by the id of the object. All objects have the kind `kind`.
// resolve does not change a text that is empty or already an id.
func (n *nameResolver) resolve(ctx context.Context, kind string, texts ...*string) error {
	return n.resolveAmong(ctx, kind, func(o *contents) []entry { return o.listKind(kind) }, texts...)
}

// resolveAmong replaces texts by ids, as resolve does. It looks only among the objects that the function `pick`
// returns, such as the tiers of one event.
func (n *nameResolver) resolveAmong(ctx context.Context, kind string, pick func(*contents) []entry,
	texts ...*string) error {
	for _, text := range texts {
		if _, err := uuid.Parse(*text); *text == "" || err == nil {
			continue
		}
		if n.offer == nil {
			offer, err := n.client.loadContents(ctx, n.slug)
			if err != nil {
				return err
			}
			n.offer = offer
		}
		found, err := findEntry(kind, *text, pick(n.offer))
		if err != nil {
			return err
		}
		*text = found.ID.String()
	}
	return nil
}

// resolveTier replaces the key or name of a tier in the argument `text` by the tier's id. The argument `event` is the
// id of the tier's event.
func (n *nameResolver) resolveTier(ctx context.Context, event string, text *string) error {
	of, err := uuid.Parse(event)
	if err != nil {
		return nil // no id to replace: the server refuses the invalid event id
	}
	return n.resolveAmong(ctx, "tier", func(o *contents) []entry { return o.listTiers(of) }, text)
}

// resolveServices replaces the keys or names of services in the argument `list` by ids. Commas separate the services in
// this list.
func (n *nameResolver) resolveServices(ctx context.Context, list *string) error {
	parts := strings.Split(*list, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
		if err := n.resolve(ctx, kindService, &parts[i]); err != nil {
			return err
		}
	}
	*list = strings.Join(parts, ",")
	return nil
}

// resolveVariants replaces the keys or names in pairs of the form SERVICE:VARIANT by ids.
func (n *nameResolver) resolveVariants(ctx context.Context, pairs []string) error {
	for i, pair := range pairs {
		service, variant, ok := strings.Cut(pair, ":")
		if !ok {
			continue // the server refuses the pair, and explains the valid form
		}
		if err := n.resolve(ctx, kindService, &service); err != nil {
			return err
		}
		of, err := uuid.Parse(service)
		if err != nil {
			continue
		}
		if err := n.resolveAmong(ctx, "variant", func(o *contents) []entry { return o.listVariants(of) },
			&variant); err != nil {
			return err
		}
		pairs[i] = service + ":" + variant
	}
	return nil
}

// findEntry returns the object that the user means by `text`: the object whose key is `text`. If no object has this
// key, findEntry returns the only object whose name is `text`; the comparison of names ignores case.
func findEntry(kind, text string, entries []entry) (*entry, error) {
	if i := slices.IndexFunc(entries, func(e entry) bool { return e.Key == text }); i >= 0 {
		return &entries[i], nil
	}
	var named []*entry
	var candidates []string
	for i := range entries {
		if strings.EqualFold(entries[i].Name, text) {
			named = append(named, &entries[i])
		}
		candidates = append(candidates, entries[i].Key, entries[i].Name)
	}
	switch {
	case len(named) == 1:
		return named[0], nil
	case len(named) > 1:
		return nil, &localError{fmt.Errorf("%d are called %q; name the %s by its key, such as %s", len(named), text,
			kind, named[0].Key)}
	case len(entries) == 0:
		return nil, &localError{fmt.Errorf("there is no %s %q: the offer has none", kind, text)}
	}
	if near := manifest.Nearest(text, candidates); near != "" {
		return nil, &localError{fmt.Errorf("there is no %s %q; did you mean %s?", kind, text, near)}
	}
	keys := make([]string, 0, maxSuggestions)
	for _, e := range entries[:min(len(entries), maxSuggestions)] {
		keys = append(keys, e.Key)
	}
	return nil, &localError{fmt.Errorf("there is no %s %q; there is %s", kind, text, strings.Join(keys, ", "))}
}

// maxSuggestions is the maximum number of keys that an error message lists.
const maxSuggestions = 12
