// Package pricelabel returns the labels of the pricing rules that changed a price, in the language of the customer. The
// label of a rule is the text that the owner wrote, or a standard text for the kind of rule. The package does no I/O.
package pricelabel

import (
	"embed"
	"slices"
	"sync"

	"github.com/slotmesh/slotmesh/libs/contracts/booking"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/contracts/pricing"
	"github.com/slotmesh/slotmesh/libs/values/message"
	"github.com/slotmesh/slotmesh/libs/values/message/words"
	"github.com/slotmesh/slotmesh/libs/values/rule"
)

//go:embed texts/*.json
var files embed.FS

var texts = sync.OnceValues(func() (*message.Catalog, error) { return message.Read(files, "texts") })

// FindLabel returns the label of a rule in the first of the given languages. If the owner
// wrote no label, FindLabel returns the standard text for the kind of rule, in the first
// language that has texts. If no standard text can be read, FindLabel returns the rule's key.
func FindLabel(r *catalog.Rule, languages ...string) string {
	if r.Label.Text != "" {
		if len(languages) > 0 {
			return r.Label.In(languages[0])
		}
		return r.Label.Text
	}
	return FindStandardLabel(r.Kind, r.Key, languages...)
}

// ListChanges lists the pricing rules that changed the prices of one sale. Each
// rule is listed once, with its label in the language of the customer.
func ListChanges(offer *catalog.Snapshot, language string, quotes ...pricing.Quote) []booking.PriceChange {
	var list []booking.PriceChange
	for _, quote := range quotes {
		for _, step := range quote.Steps {
			i := slices.IndexFunc(
				offer.Rules,
				func(r catalog.Rule) bool { return r.Key == step.Rule && string(r.Kind) == step.Kind },
			)
			if i < 0 || step.Before == step.After { // the step of a package has no rule
				continue
			}
			change := booking.PriceChange{
				Rule: step.Rule, Kind: step.Kind, Label: FindLabel(&offer.Rules[i], language, offer.DefaultLanguage),
			}
			if !slices.Contains(list, change) {
				list = append(list, change)
			}
		}
	}
	return list
}

// FindStandardLabel returns the standard text for a kind of rule. It
// returns the argument `otherwise` if no text for the kind can be read.
func FindStandardLabel(kind rule.Kind, otherwise string, languages ...string) string {
	all, err := texts()
	if err != nil {
		return otherwise
	}
	w := words.In(all, languages...)
	if label := w.Say(string(kind)); w.Fault() == nil {
		return label
	}
	return otherwise
}
