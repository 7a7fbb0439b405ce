package manifest

import (
	"fmt"

	"github.com/google/uuid"
)

// Namespace is the UUID v5 namespace of business ids. It must never change, because every public id follows from it.
var Namespace = uuid.MustParse("b7a0c6de-52f4-5d1c-9a4e-6b1f0f6c2d11")

// BusinessID returns the id of the business: the id in the manifest, otherwise that of the first business with the
// slug. If the slug was used before by a removed business, the catalog service sets another id (see deriveBusinessID).
func (m *Manifest) BusinessID() uuid.UUID {
	if m.ID != nil {
		return uuid.UUID(*m.ID)
	}
	return deriveBusinessID(m.Slug, 0)
}

// deriveBusinessID returns the id of a business without an id in its manifest. predecessors is the
// number of removed businesses that had the same slug. The id is the UUID v5 of (Namespace, slug)
// for the first business, and of (Namespace, "<slug>/2"), "<slug>/3" and so on for later ones.
func deriveBusinessID(slug Key, predecessors int) uuid.UUID {
	if predecessors == 0 {
		return uuid.NewSHA1(Namespace, []byte(slug))
	}
	return uuid.NewSHA1(Namespace, fmt.Appendf(nil, "%s/%d", slug, predecessors+1))
}

// deriveObjectID returns the id set by hand, or the UUID v5 of (business id, path).
func deriveObjectID(business uuid.UUID, byHand *ID, path string) uuid.UUID {
	if byHand != nil {
		return uuid.UUID(*byHand)
	}
	return uuid.NewSHA1(business, []byte(path))
}

// ObjectID returns the staff member's id; its path is "staff/<key>".
func (s *Staff) ObjectID(business uuid.UUID) uuid.UUID {
	return deriveObjectID(business, s.ID, "staff/"+string(s.Key))
}

// ObjectID returns the service's id; its path is "service/<key>".
func (s *Service) ObjectID(business uuid.UUID) uuid.UUID {
	return deriveObjectID(business, s.ID, "service/"+string(s.Key))
}

// ObjectID returns the variant's id; its path is "service/<key>/variant/<key>".
func (v *Variant) ObjectID(business uuid.UUID, service Key) uuid.UUID {
	return deriveObjectID(business, v.ID, "service/"+string(service)+"/variant/"+string(v.Key))
}

// ObjectID returns the session's id; its path is "service/<key>/class/<key>".
func (c *ClassSession) ObjectID(business uuid.UUID, service Key) uuid.UUID {
	return deriveObjectID(business, c.ID, "service/"+string(service)+"/class/"+string(c.Key))
}

// ObjectID returns the package's id; its path is "package/<key>".
func (p *Package) ObjectID(business uuid.UUID) uuid.UUID {
	return deriveObjectID(business, p.ID, "package/"+string(p.Key))
}

// ObjectID returns the event's id; its path is "event/<key>".
func (e *Event) ObjectID(business uuid.UUID) uuid.UUID {
	return deriveObjectID(business, e.ID, "event/"+string(e.Key))
}

// ObjectID returns the tier's id; its path is "event/<key>/tier/<key>".
func (t *Tier) ObjectID(business uuid.UUID, event Key) uuid.UUID {
	return deriveObjectID(business, t.ID, "event/"+string(event)+"/tier/"+string(t.Key))
}

// ObjectID returns the rental's id; its path is "rental/<key>".
func (r *Rental) ObjectID(business uuid.UUID) uuid.UUID {
	return deriveObjectID(business, r.ID, "rental/"+string(r.Key))
}

// ObjectID returns the unit's id; its path is "rental/<key>/unit/<key>".
func (u *RentalUnit) ObjectID(business uuid.UUID, rental Key) uuid.UUID {
	return deriveObjectID(business, u.ID, "rental/"+string(rental)+"/unit/"+string(u.Key))
}

// ObjectID returns the rule's id; its path is "pricing_rule/<key>".
func (r *PricingRule) ObjectID(business uuid.UUID) uuid.UUID {
	return deriveObjectID(business, r.ID, "pricing_rule/"+string(r.Key))
}
