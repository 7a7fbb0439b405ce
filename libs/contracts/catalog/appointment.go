package catalog

import (
	"strings"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// MaxVariants is the maximal number of pairs that [ParseVariants]
// accepts: one for each service of the largest appointment.
const MaxVariants = 20

// ParseVariants parses pairs "serviceId:variantId", each of which selects a variant
// of a service. A pair may occur more than once. Faults: invalid_parameter.
func ParseVariants(pairs []string) (map[uuid.UUID]uuid.UUID, error) {
	if len(pairs) > MaxVariants {
		return nil, fault.Newf(fault.InvalidParameter, "variants: there are %d pairs; send at most %d.", len(pairs),
			MaxVariants)
	}
	variants := make(map[uuid.UUID]uuid.UUID, len(pairs))
	for i, pair := range pairs {
		service, variant, ok := parsePair(pair)
		if !ok {
			return nil, fault.Newf(fault.InvalidParameter,
				"variants: entry %d is not a pair of UUIDs; write serviceId:variantId, with the ids that /services "+
					"lists.", i+1)
		}
		if other, isDuplicate := variants[service]; isDuplicate && other != variant {
			return nil, fault.Newf(fault.InvalidParameter, "variants: service %s has two variants; choose one.",
				service)
		}
		variants[service] = variant
	}
	return variants, nil
}

func parsePair(pair string) (uuid.UUID, uuid.UUID, bool) {
	const canonical = len("00000000-0000-0000-0000-000000000000")
	first, second, ok := strings.Cut(pair, ":")
	if !ok || len(first) != canonical || len(second) != canonical {
		return uuid.Nil, uuid.Nil, false
	}
	service, err := uuid.Parse(first)
	if err != nil {
		return uuid.Nil, uuid.Nil, false
	}
	variant, err := uuid.Parse(second)
	return service, variant, err == nil
}

// Appointment returns the services with the given ids, in this order. If a variant of a
// service is chosen, the service has the duration and price of the variant (semantics.md §2).
//
// Faults: service_not_found for the first unknown or inactive service, or if the business offers no
// services; invalid_parameter if a class is among several services, or if a chosen variant does not exist.
func (o *Snapshot) Appointment(ids []uuid.UUID, variants map[uuid.UUID]uuid.UUID) ([]*Service, error) {
	services := make([]*Service, len(ids))
	chosen := make(map[uuid.UUID]*Service, len(variants))
	for i, id := range ids {
		service := o.Service(id)
		if service == nil || !service.Active || !o.Modules.Services {
			return nil, fault.Newf(fault.ServiceNotFound, "Service not found: %s", id)
		}
		services[i] = service
	}
	for i, service := range services {
		variant, as := variants[service.ID]
		switch {
		case service.IsClass() && len(services) > 1:
			return nil, fault.Newf(fault.InvalidParameter,
				"Service %s is a class, which is booked alone; ask for it without other services.", service.ID)
		case !as:
			continue
		case service.IsClass():
			return nil, fault.Newf(fault.InvalidParameter,
				"variants: service %s is a class, which is as long as its sessions; leave its variant out.", service.ID)
		}
		if chosen[service.ID] == nil {
			if chosen[service.ID] = service.withVariant(variant); chosen[service.ID] == nil {
				return nil, fault.Newf(fault.InvalidParameter,
					"variants: service %s has no variant %s; choose one that /services lists.", service.ID, variant)
			}
		}
		services[i] = chosen[service.ID]
	}
	for id := range variants {
		if chosen[id] == nil {
			return nil, fault.Newf(fault.InvalidParameter,
				"variants: service %s is not asked for; name only services of the appointment.", id)
		}
	}
	return services, nil
}

// IsClass reports whether the service can only be booked for its class sessions.
func (s *Service) IsClass() bool { return len(s.Classes) > 0 }

// withVariant returns a copy of the service with the duration and price of
// one of its variants. It returns nil if the variant does not exist.
func (s *Service) withVariant(variant uuid.UUID) *Service {
	for _, v := range s.Variants {
		if v.ID == variant {
			like := *s
			like.DurationMinutes, like.Price = v.DurationMinutes, v.Price
			return &like
		}
	}
	return nil
}
