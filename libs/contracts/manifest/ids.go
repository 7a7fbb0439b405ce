package manifest

import (
	"fmt"

	"github.com/google/uuid"
)

// Namespace is the UUID v5 namespace of the ids of businesses. It
// must never change, because every public id is derived from it.
var Namespace = uuid.MustParse("b7a0c6de-52f4-5d1c-9a4e-6b1f0f6c2d11")

// BusinessID returns the id in the manifest. If the manifest has no id, BusinessID returns
// the id that is derived for the first business with the slug. If removed businesses had
// the same slug, [ParseUntil] sets the id in the manifest; see deriveBusinessID.
func (m *Manifest) BusinessID() uuid.UUID {
	if m.ID != nil {
		return uuid.UUID(*m.ID)
	}
	return deriveBusinessID(m.Slug, 0)
}

// deriveBusinessID returns the id of a business without an id in its manifest. The argument `predecessors` is the
// number of removed businesses that had the same slug. The id of the first business is the UUID v5 of (Namespace,
// slug). The ids of later businesses are the UUIDs of (Namespace, "<slug>/2"), (Namespace, "<slug>/3"), and so on.
func deriveBusinessID(slug Key, predecessors int) uuid.UUID {
	if predecessors == 0 {
		return uuid.NewSHA1(Namespace, []byte(slug))
	}
	return uuid.NewSHA1(Namespace, fmt.Appendf(nil, "%s/%d", slug, predecessors+1))
}

// deriveObjectID returns the argument `byHand`, which is the id in the manifest. If
// `byHand` is nil, deriveObjectID returns the UUID v5 of the business id and the path.
func deriveObjectID(business uuid.UUID, byHand *ID, path string) uuid.UUID {
	if byHand != nil {
		return uuid.UUID(*byHand)
	}
	return uuid.NewSHA1(business, []byte(path))
}

// ObjectID returns the id of the staff member. It is derived from the path "staff/<key>", unless the manifest sets it.
func (s *Staff) ObjectID(business uuid.UUID) uuid.UUID {
	return deriveObjectID(business, s.ID, "staff/"+string(s.Key))
}

// ObjectID returns the id of the service. It is derived from the path "service/<key>", unless the manifest sets it.
func (s *Service) ObjectID(business uuid.UUID) uuid.UUID {
	return deriveObjectID(business, s.ID, "service/"+string(s.Key))
}

// ObjectID returns the id of the variant. It is derived from the
// path "service/<key>/variant/<key>", unless the manifest sets it.
func (v *Variant) ObjectID(business uuid.UUID, service Key) uuid.UUID {
	return deriveObjectID(business, v.ID, "service/"+string(service)+"/variant/"+string(v.Key))
}

// ObjectID returns the id of the class session. It is derived from
// the path "service/<key>/class/<key>", unless the manifest sets it.
func (c *ClassSession) ObjectID(business uuid.UUID, service Key) uuid.UUID {
	return deriveObjectID(business, c.ID, "service/"+string(service)+"/class/"+string(c.Key))
}

// ObjectID returns the id of the package. It is derived from the path "package/<key>", unless the manifest sets it.
func (p *Package) ObjectID(business uuid.UUID) uuid.UUID {
	return deriveObjectID(business, p.ID, "package/"+string(p.Key))
}

// ObjectID returns the id of the event. It is derived from the path "event/<key>", unless the manifest sets it.
func (e *Event) ObjectID(business uuid.UUID) uuid.UUID {
	return deriveObjectID(business, e.ID, "event/"+string(e.Key))
}

// ObjectID returns the id of the tier. It is derived from the
// path "event/<key>/tier/<key>", unless the manifest sets it.
func (t *Tier) ObjectID(business uuid.UUID, event Key) uuid.UUID {
	return deriveObjectID(business, t.ID, "event/"+string(event)+"/tier/"+string(t.Key))
}

// ObjectID returns the id of the rental. It is derived from the path "rental/<key>", unless the manifest sets it.
func (r *Rental) ObjectID(business uuid.UUID) uuid.UUID {
	return deriveObjectID(business, r.ID, "rental/"+string(r.Key))
}

// ObjectID returns the id of the unit. It is derived from the
// path "rental/<key>/unit/<key>", unless the manifest sets it.
func (u *RentalUnit) ObjectID(business uuid.UUID, rental Key) uuid.UUID {
	return deriveObjectID(business, u.ID, "rental/"+string(rental)+"/unit/"+string(u.Key))
}

// ObjectID returns the id of the pricing rule. It is derived from
// the path "pricing_rule/<key>", unless the manifest sets it.
func (r *PricingRule) ObjectID(business uuid.UUID) uuid.UUID {
	return deriveObjectID(business, r.ID, "pricing_rule/"+string(r.Key))
}
