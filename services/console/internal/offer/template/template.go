// Package template makes the first manifest of a business from the template of its trade, with comments that explain
// the fields. The command `slotmesh init` prints this manifest. The owner's pages create a business from this manifest.
package template

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/slotmesh/slotmesh/libs/values/timespan"
)

//go:embed manifests/*.yaml
var files embed.FS

// titles maps each trade to the title in the first line of the trade's manifest.
var titles = map[string]string{
	"salon": "A salon", "clinic": "A clinic", "studio": "A studio with classes", "venue": "A venue with events",
	"rental": "A rental shop",
}

// ListTrades returns the names of the trades that have a template, sorted.
func ListTrades() []string {
	trades := make([]string, 0, len(titles))
	for trade := range titles {
		trades = append(trades, trade)
	}
	slices.Sort(trades)
	return trades
}

// Business has the values of a first manifest that do not depend on the trade. The `manifest` package validates these
// values; the `template` package does not.
type Business struct {
	Slug, Name string
	Currency   string        // ISO 4217 code
	Timezone   string        // IANA time zone name
	Today      timespan.Date // present date; dates in the manifest, such as an event's date, are 30 days later
}

// RenderManifest returns the first manifest of a trade as YAML. Error: the trade is unknown.
func RenderManifest(trade string, b Business) (string, error) {
	if titles[trade] == "" {
		return "", fmt.Errorf("there is no manifest for the trade %q; choose one of %s", trade,
			strings.Join(ListTrades(), ", "))
	}
	source, err := files.ReadFile("manifests/" + trade + ".yaml")
	if err != nil {
		return "", err
	}
	name, err := quote(b.Name)
	if err != nil {
		return "", err
	}
	const month = 30
	year, _, _ := b.Today.YMD()
	return strings.NewReplacer("{{.Title}}", titles[trade], "{{.Slug}}", b.Slug, "{{.QuotedName}}", name,
		"{{.Currency}}", b.Currency, "{{.Timezone}}", b.Timezone, "{{.Ahead}}", (b.Today + month).String(),
		"{{.Year}}", strconv.Itoa(year)).Replace(string(source)), nil
}

// quote returns a text as a double-quoted YAML string. It encodes the text as JSON, because a JSON string is also a
// YAML string.
func quote(text string) (string, error) {
	var q strings.Builder
	writer := json.NewEncoder(&q)
	writer.SetEscapeHTML(false)
	err := writer.Encode(text)
	return strings.TrimSuffix(q.String(), "\n"), err
}
