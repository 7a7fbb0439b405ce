package manifest

import (
	"fmt"

	"github.com/google/uuid"
)

// Namespace is the UUID v5 namespace of business ids. It never changes: every public id follows from it.
var Namespace = uuid.MustParse("b7a0c6de-52f4-5d1c-9a4e-6b1f0f6c2d11")

// BusinessID is the business's id: the one set by hand, else that of the first business with the slug. A business that
// takes over a slug has the id that catalog gives it (businessIDOf).
func (m *Manifest) BusinessID() uuid.UUID {
	if m.ID != nil {
		return uuid.UUID(*m.ID)
	}
	return businessIDOf(m.Slug, 0)
}

// businessIDOf is the id of a business whose slug so many businesses had before that were removed: uuid v5 of (Namespace,
// slug) for the first, and of (Namespace, "<slug>/2"), "<slug>/3" and so on for those that follow it.
func businessIDOf(slug Key, predecessors int) uuid.UUID {
	if predecessors == 0 {
		return uuid.NewSHA1(Namespace, []byte(slug))
	}
	return uuid.NewSHA1(Namespace, fmt.Appendf(nil, "%s/%d", slug, predecessors+1))
}

// objectID is uuid v5 of (business id, path) unless set by hand.
func objectID(business uuid.UUID, byHand *ID, path string) uuid.UUID {
	if byHand != nil {
		return uuid.UUID(*byHand)
	}
	return uuid.NewSHA1(business, []byte(path))
}

// ObjectID is the staff member's id, by the path "staff/<key>".
func (s *Staff) ObjectID(business uuid.UUID) uuid.UUID {
	return objectID(business, s.ID, "staff/"+string(s.Key))
}

// ObjectID is the service's id, by the path "service/<key>".
func (s *Service) ObjectID(business uuid.UUID) uuid.UUID {
	return objectID(business, s.ID, "service/"+string(s.Key))
}

// ObjectID is the variant's id, by the path "service/<key>/variant/<key>".
func (v *Variant) ObjectID(business uuid.UUID, service Key) uuid.UUID {
	return objectID(business, v.ID, "service/"+string(service)+"/variant/"+string(v.Key))
}

// ObjectID is the session's id, by the path "service/<key>/class/<key>".
func (c *ClassSession) ObjectID(business uuid.UUID, service Key) uuid.UUID {
	return objectID(business, c.ID, "service/"+string(service)+"/class/"+string(c.Key))
}

// ObjectID is the package's id, by the path "package/<key>".
func (p *Package) ObjectID(business uuid.UUID) uuid.UUID {
	return objectID(business, p.ID, "package/"+string(p.Key))
}

// ObjectID is the event's id, by the path "event/<key>".
func (e *Event) ObjectID(business uuid.UUID) uuid.UUID {
	return objectID(business, e.ID, "event/"+string(e.Key))
}

// ObjectID is the tier's id, by the path "event/<key>/tier/<key>".
func (t *Tier) ObjectID(business uuid.UUID, event Key) uuid.UUID {
	return objectID(business, t.ID, "event/"+string(event)+"/tier/"+string(t.Key))
}

// ObjectID is the rental's id, by the path "rental/<key>".
func (r *Rental) ObjectID(business uuid.UUID) uuid.UUID {
	return objectID(business, r.ID, "rental/"+string(r.Key))
}

// ObjectID is the unit's id, by the path "rental/<key>/unit/<key>".
func (u *RentalUnit) ObjectID(business uuid.UUID, rental Key) uuid.UUID {
	return objectID(business, u.ID, "rental/"+string(rental)+"/unit/"+string(u.Key))
}

// ObjectID is the rule's id, by the path "pricing_rule/<key>".
func (r *PricingRule) ObjectID(business uuid.UUID) uuid.UUID {
	return objectID(business, r.ID, "pricing_rule/"+string(r.Key))
}
