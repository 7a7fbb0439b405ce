package document

import (
	"maps"
	"slices"
)

// Removal counts what else changes when an object of the offer is removed.
type Removal struct {
	Rules, RulesGone         int // price rules that name it no more, and those that were for it alone
	Questions, QuestionsGone int // of the booking page
	Services, ServicesOff    int // that a member does no more, and those that nobody does any more, which are not offered
	Classes                  int // that a member gives no more
	Blocks, Upsells          int
	Packages                 int // that the service is of: without it they are none
}

// Remove takes an object out of a list of the offer, and out of whatever names it. It reports false where the list has none of this key.
func Remove(fields Fields, list, key string) (Removal, bool) {
	var r Removal
	items, _ := fields[list].([]any)
	i := slices.IndexFunc(items, func(item any) bool { name, ok := Name(item); return ok && name == key })
	if i < 0 {
		return r, false
	}
	put(fields, list, slices.Delete(slices.Clone(items), i, i+1))
	switch list {
	case "services":
		r.Questions, r.QuestionsGone = unname(fields, "form", func(question Fields) (bool, bool) { return strike(question, "services", key) })
		_, r.Packages = unname(fields, "packages", func(sold Fields) (bool, bool) {
			services, _ := sold["services"].([]any)
			of := slices.Contains(services, any(key))
			return of, of
		})
	case "staff":
		r.removeMember(fields, key)
	case "rentals":
		for _, rental := range objects(fields["rentals"]) {
			n, _ := unname(rental, "upsells", func(upsell Fields) (bool, bool) { return upsell["rental"] == key, upsell["rental"] == key })
			r.Upsells += n
		}
	}
	r.Rules, r.RulesGone = unname(fields, "pricing_rules", func(rule Fields) (bool, bool) {
		applies, _ := rule["applies_to"].(Fields)
		changed, gone := strike(applies, list, key)
		return changed, gone && len(applies) == 0
	})
	return r, true
}

// removeMember takes a member out of what they do. A service that nobody is left for is not offered: without staff it would be open to all.
func (r *Removal) removeMember(fields Fields, key string) {
	for _, service := range objects(fields["services"]) {
		if changed, gone := strike(service, "staff", key); changed {
			r.Services++
			if gone {
				service["active"] = false
				r.ServicesOff++
			}
		}
		for _, session := range objects(service["classes"]) {
			if session["staff"] == key {
				delete(session, "staff")
				r.Classes++
			}
		}
	}
	r.Blocks, _ = unname(fields, "blocks", func(block Fields) (bool, bool) { return strike(block, "staff", key) })
}

func objects(list any) []Fields {
	var all []Fields
	items, _ := list.([]any)
	for _, item := range items {
		if object, ok := item.(Fields); ok {
			all = append(all, object)
		}
	}
	return all
}

func put(fields Fields, list string, items []any) {
	fields[list] = items
	if len(items) == 0 {
		delete(fields, list)
	}
}

// unname changes each object of a list, and takes those out that say so. It counts both.
func unname(fields Fields, list string, change func(Fields) (changed, gone bool)) (int, int) {
	all, removed := 0, 0
	items, there := fields[list].([]any)
	if !there {
		return 0, 0
	}
	var kept []any
	for _, item := range items {
		object, _ := item.(Fields)
		changed, gone := change(object)
		if changed {
			all++
		}
		if gone {
			removed++
			continue
		}
		kept = append(kept, item)
	}
	put(fields, list, kept)
	return all, removed
}

// strike takes a key out of a list of keys. It reports whether the key was in it, and whether it was the only one, so that the list is no more.
func strike(object Fields, list, key string) (bool, bool) {
	keys, _ := object[list].([]any)
	if !slices.Contains(keys, any(key)) {
		return false, false
	}
	kept := slices.DeleteFunc(slices.Clone(keys), func(k any) bool { return k == key })
	put(object, list, kept)
	return true, len(kept) == 0
}

// Clone is a copy of fields that shares nothing with them.
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
