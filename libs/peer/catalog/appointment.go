package catalog

import (
	"strings"

	"github.com/google/uuid"

	"github.com/slotmesh/slotmesh/libs/fault"
)

// MaxVariants bounds the pairs that [ParseVariants] takes: one for each service of the largest appointment.
const MaxVariants = 20

// ParseVariants reads pairs of a service's id and the id of the variant that is booked instead of the service itself,
// serviceId:variantId. The same pair may come twice. Faults: invalid_parameter.
func ParseVariants(pairs []string) (map[uuid.UUID]uuid.UUID, error) {
	if len(pairs) > MaxVariants {
		return nil, fault.Newf(fault.InvalidParameter, "variants: there are %d pairs; send at most %d.", len(pairs), MaxVariants)
	}
	variants := make(map[uuid.UUID]uuid.UUID, len(pairs))
	for i, pair := range pairs {
		service, variant, ok := parsePair(pair)
		if !ok {
			return nil, fault.Newf(fault.InvalidParameter,
				"variants: entry %d is not a pair of UUIDs; write serviceId:variantId, with the ids that /services lists.", i+1)
		}
		if other, twice := variants[service]; twice && other != variant {
			return nil, fault.Newf(fault.InvalidParameter, "variants: service %s has two variants; choose one.", service)
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

// Appointment finds the services of an appointment in the order given, each as the variant that is chosen for it: with
// the variant's length and price. Faults: service_not_found for the first that is unknown or inactive, or where the
// business uses no services; invalid_parameter for a class among other services and for a variant that cannot be
// chosen (semantics.md §2).
func (o *Offer) Appointment(ids []uuid.UUID, variants map[uuid.UUID]uuid.UUID) ([]*Service, error) {
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
		case service.Class() && len(services) > 1:
			return nil, fault.Newf(fault.InvalidParameter, "Service %s is a class, which is booked alone; ask for it without other services.", service.ID)
		case !as:
			continue
		case service.Class():
			return nil, fault.Newf(fault.InvalidParameter, "variants: service %s is a class, which is as long as its sessions; leave its variant out.", service.ID)
		}
		if chosen[service.ID] == nil {
			if chosen[service.ID] = service.as(variant); chosen[service.ID] == nil {
				return nil, fault.Newf(fault.InvalidParameter, "variants: service %s has no variant %s; choose one that /services lists.", service.ID, variant)
			}
		}
		services[i] = chosen[service.ID]
	}
	for id := range variants {
		if chosen[id] == nil {
			return nil, fault.Newf(fault.InvalidParameter, "variants: service %s is not asked for; name only services of the appointment.", id)
		}
	}
	return services, nil
}

// Class reports whether the service is booked at its class sessions only.
func (s *Service) Class() bool { return len(s.Classes) > 0 }

// as returns the service with the length and price of one of its variants, or nil.
func (s *Service) as(variant uuid.UUID) *Service {
	for _, v := range s.Variants {
		if v.ID == variant {
			like := *s
			like.DurationMinutes, like.Price = v.DurationMinutes, v.Price
			return &like
		}
	}
	return nil
}
