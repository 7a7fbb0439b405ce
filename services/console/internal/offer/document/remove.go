package document

import (
	"maps"
	"slices"
)

// Removal is the result of removing an object from the offer. A Removal counts the other objects that referred to the
// removed object: these objects were changed, or were removed too. A service becomes inactive if no member of its staff
// or none of its locations is left.
type Removal struct {
	Rules, RemovedRules         int // number of changed pricing rules; number removed because their scope became empty
	Questions, RemovedQuestions int // number of changed questions of the booking page; number of removed questions
	// number of services that lost the removed member or location; number that became inactive
	Services, DisabledServices int
	Classes                    int // number of class sessions that lost the removed member or location
	Members                    int // number of members who worked at the removed location
	Events, Rentals            int // number of events and rentals that lost the removed location
	Blocks, Upsells            int
	Packages                   int // number of removed packages; each contained the removed service
}

// Remove removes an object from a list of the offer, and removes all references to this object. The argument `list` is
// the name of the list, and the argument `key` is the key of the object. The second result is false if the list has no
// object with this key.
func Remove(fields Fields, list, key string) (Removal, bool) {
	var r Removal
	items, _ := fields[list].([]any)
	i := slices.IndexFunc(items, func(item any) bool { name, ok := NameOf(item); return ok && name == key })
	if i < 0 {
		return r, false
	}
	setList(fields, list, slices.Delete(slices.Clone(items), i, i+1))
	switch list {
	case "services":
		r.Questions, r.RemovedQuestions = removeReferences(fields, "form", func(question Fields) (bool, bool) {
			return removeKey(question, "services", key)
		})
		_, r.Packages = removeReferences(fields, "packages", func(sold Fields) (bool, bool) {
			services, _ := sold["services"].([]any)
			of := slices.Contains(services, any(key))
			return of, of
		})
	case "staff":
		r.removeMember(fields, key)
	case "locations":
		r.removeLocation(fields, key)
	case "rentals":
		for _, rental := range listObjects(fields["rentals"]) {
			n, _ := removeReferences(rental, "upsells", func(upsell Fields) (bool, bool) {
				return upsell["rental"] == key, upsell["rental"] == key
			})
			r.Upsells += n
		}
	}
	r.Rules, r.RemovedRules = removeReferences(fields, "pricing_rules", func(rule Fields) (bool, bool) {
		scope, _ := rule["applies_to"].(Fields)
		isChanged, isRemoved := removeKey(scope, list, key)
		return isChanged, isRemoved && len(scope) == 0
	})
	return r, true
}

// removeMember removes a staff member's key from services, class sessions and blocked times. If a service has no member
// left, removeMember makes the service inactive. Otherwise customers could book the service at any time, because a
// service without staff has no working hours.
func (r *Removal) removeMember(fields Fields, key string) {
	for _, service := range listObjects(fields["services"]) {
		if isChanged, isRemoved := removeKey(service, "staff", key); isChanged {
			r.Services++
			if isRemoved {
				service["active"] = false
				r.DisabledServices++
			}
		}
		r.Classes += removeValue(service["classes"], "staff", key)
	}
	r.Blocks, _ = removeReferences(fields, "blocks", func(block Fields) (bool, bool) {
		return removeKey(block, "staff", key)
	})
}

// removeLocation removes a location's key from services, class sessions, members, events and rentals. If a service has
// no location left, removeLocation makes the service inactive: a service without locations is offered at all places. A
// member without a location left gets no weekly hours, for the same reason.
func (r *Removal) removeLocation(fields Fields, key string) {
	for _, service := range listObjects(fields["services"]) {
		if isChanged, isRemoved := removeKey(service, "locations", key); isChanged {
			r.Services++
			if isRemoved {
				service["active"] = false
				r.DisabledServices++
			}
		}
		r.Classes += removeValue(service["classes"], "location", key)
	}
	for _, member := range listObjects(fields["staff"]) {
		hours, _ := member["at"].(Fields)
		if _, works := hours[key]; !works {
			continue
		}
		r.Members++
		delete(hours, key)
		if len(hours) == 0 {
			delete(member, "at")
			member["hours"] = Fields{}
		}
	}
	r.Events = removeValue(fields["events"], "location", key)
	r.Rentals = removeValue(fields["rentals"], "location", key)
}

// removeValue removes a field from each object of a list in which the field has the given value. It returns the number
// of these objects.
func removeValue(list any, field, value string) int {
	n := 0
	for _, object := range listObjects(list) {
		if object[field] == value {
			delete(object, field)
			n++
		}
	}
	return n
}

func listObjects(list any) []Fields {
	var all []Fields
	items, _ := list.([]any)
	for _, item := range items {
		if object, ok := item.(Fields); ok {
			all = append(all, object)
		}
	}
	return all
}

func setList(fields Fields, list string, items []any) {
	fields[list] = items
	if len(items) == 0 {
		delete(fields, list)
	}
}

// removeReferences calls the function in the argument `change` for each object of a list. If the second result of this
// function is true, removeReferences removes the object from the list. removeReferences returns the number of changed
// objects and the number of removed objects.
func removeReferences(fields Fields, list string, change func(Fields) (isChanged, isRemoved bool)) (int, int) {
	all, removed := 0, 0
	items, exists := fields[list].([]any)
	if !exists {
		return 0, 0
	}
	var remaining []any
	for _, item := range items {
		object, _ := item.(Fields)
		isChanged, isRemoved := change(object)
		if isChanged {
			all++
		}
		if isRemoved {
			removed++
			continue
		}
		remaining = append(remaining, item)
	}
	setList(fields, list, remaining)
	return all, removed
}

// removeKey removes a key from a list of keys in an object. The argument `list` is the name of the field that has the
// list of keys. The first result reports whether the list contained the key. The second result reports whether the list
// became empty; if so, removeKey removes the field.
func removeKey(object Fields, list, key string) (bool, bool) {
	keys, _ := object[list].([]any)
	if !slices.Contains(keys, any(key)) {
		return false, false
	}
	remaining := slices.DeleteFunc(slices.Clone(keys), func(k any) bool { return k == key })
	setList(object, list, remaining)
	return true, len(remaining) == 0
}

// Clone returns a deep copy of fields.
func Clone(fields Fields) Fields { return clone(fields).(Fields) }

func clone(value any) any {
	switch value := value.(type) {
	case Fields:
		copied := maps.Clone(value)
		for name := range copied {
			copied[name] = clone(copied[name])
		}
		return copied
	case []any:
		copied := slices.Clone(value)
		for i := range copied {
			copied[i] = clone(copied[i])
		}
		return copied
	}
	return value
}
