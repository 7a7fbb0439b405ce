package docs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/slotmesh/slotmesh/libs/testkit/inputs"
)

// bookFolder is the book for users of the API. Its pages about programs, errors and events are generated from the
// sources in this folder.
const bookFolder = "../../../../docs/api"

var update = flag.Bool("update", false, "write the generated pages of the book")

const generatedNote = "<!-- `make generate` writes this page from services/catalog/internal/docs. -->\n\n"

// TestBookPagesAreCurrent compares the generated pages of the book with the sources, and writes them with -update.
func TestBookPagesAreCurrent(t *testing.T) {
	t.Parallel()
	inputs.Checkout("docs")
	pages := map[string]string{"quick-start.md": renderPrograms(t), "webhook-events.md": renderEvents(t)}
	maps.Copy(pages, renderErrors(t))
	found, err := filepath.Glob(filepath.Join(bookFolder, "errors", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range found {
		if name := filepath.Join("errors", filepath.Base(path)); pages[name] == "" {
			t.Errorf("%s describes an error that does not exist", path)
		}
	}
	for name, text := range pages {
		path := filepath.Join(bookFolder, name)
		want := generatedNote + text
		if *update {
			if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != want {
			t.Errorf("%s is not current (%v): run make generate", path, err)
		}
	}
}

// refusal is an example of an error in the OpenAPI document, with the operation and the status of the answer.
type refusal struct{ call, status, sentence string }

// collectRefusals returns the examples of all errors by code. Examples that several operations share have no call.
func collectRefusals(t *testing.T) map[string][]refusal {
	t.Helper()
	var parsed struct {
		Paths      map[string]map[string]any
		Components struct{ Responses map[string]any }
	}
	if err := yaml.Unmarshal(source, &parsed); err != nil {
		t.Fatal(err)
	}
	all := map[string][]refusal{}
	for path, operations := range parsed.Paths {
		for method, operation := range operations {
			fields, _ := operation.(map[string]any)
			responses, _ := fields["responses"].(map[string]any)
			for status, response := range responses {
				content, _ := response.(map[string]any)
				if name, isReference := content["$ref"].(string); isReference {
					response = parsed.Components.Responses[filepath.Base(name)]
				}
				call := strings.ToUpper(method) + " " + path
				addRefusals(all, response, refusal{call: call, status: status})
			}
		}
	}
	return all
}

// addRefusals adds the examples within a value of the document.
func addRefusals(all map[string][]refusal, value any, at refusal) {
	switch v := value.(type) {
	case map[string]any:
		code, hasCode := v["messageCode"].(string)
		sentence, hasSentence := v["error"].(string)
		if hasCode && hasSentence {
			at.sentence = sentence
			all[code] = append(all[code], at)
			return
		}
		for _, member := range v {
			addRefusals(all, member, at)
		}
	case []any:
		for _, member := range v {
			addRefusals(all, member, at)
		}
	}
}

// renderErrors returns a page for each error code, and the page that lists them.
func renderErrors(t *testing.T) map[string]string {
	t.Helper()
	refusals := collectRefusals(t)
	pages := map[string]string{}
	var list strings.Builder
	list.WriteString(errorsIntro)
	for _, a := range errorAdvice {
		fmt.Fprintf(&list, "| %s | [`%s`](%s.md) | %s |\n", a.Status, a.Code, a.Code, a.Do)
		var page strings.Builder
		fmt.Fprintf(&page, "# %s\n\nStatus: %s.\n\n**What to do:** %s\n", a.Code, a.Status, a.Do)
		examples := refusals[a.Code]
		slices.SortFunc(examples, func(x, y refusal) int {
			return cmp.Or(cmp.Compare(len(x.sentence), len(y.sentence)), cmp.Compare(x.sentence, y.sentence),
				cmp.Compare(x.call, y.call))
		})
		if len(examples) > 0 {
			body, err := json.Marshal(map[string]string{"error": examples[0].sentence, "messageCode": a.Code})
			if err != nil {
				t.Fatal(err)
			}
			var indented bytes.Buffer
			if err := json.Indent(&indented, body, "", "  "); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&page, "\n## Example\n\n```json\n%s\n```\n", &indented)
			page.WriteString("\n## Calls that can return it\n\n")
			page.WriteString(listCalls(examples))
		}
		page.WriteString("\n[All errors](index.md)\n")
		pages[filepath.Join("errors", a.Code+".md")] = page.String()
	}
	pages[filepath.Join("errors", "index.md")] = list.String()
	return pages
}

// listCalls returns the operations of the examples as a list, each once. An error of the default response is an error
// of every call.
func listCalls(examples []refusal) string {
	statuses := map[string][]string{}
	for _, e := range examples {
		if e.status == "default" {
			return "Every call.\n"
		}
		statuses[e.call] = append(statuses[e.call], e.status)
	}
	var list strings.Builder
	for _, call := range slices.Sorted(maps.Keys(statuses)) {
		slices.Sort(statuses[call])
		fmt.Fprintf(&list, "- `%s` (%s)\n", call, strings.Join(slices.Compact(statuses[call]), ", "))
	}
	return list.String()
}

// renderPrograms returns the page with the programs that book.
func renderPrograms(t *testing.T) string {
	t.Helper()
	programs, err := loadSamples("book", "sh", "mjs", "mts", "py", "go")
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	page.WriteString(programsIntro)
	for _, p := range programs {
		fmt.Fprintf(&page, "\n## %s\n\nSave it as `%s`, and run `%s`.", p.Language, p.File, p.Run)
		page.WriteString(map[string]string{"curl": " It needs curl and jq.",
			"TypeScript": " It needs Node 22.18 or newer."}[p.Language])
		fmt.Fprintf(&page, "\n\n```%s\n%s\n```\n", strings.TrimPrefix(filepath.Ext(p.File), "."), p.Text)
	}
	page.WriteString(programsEnd)
	return strings.NewReplacer("```mjs", "```js", "```mts", "```ts").Replace(page.String())
}

// renderEvents returns the page with all types of webhooks, and the programs that check them.
func renderEvents(t *testing.T) string {
	t.Helper()
	events, err := loadPayloads()
	if err != nil {
		t.Fatal(err)
	}
	programs, err := loadSamples("webhook", "ts", "py", "go")
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	page.WriteString(eventsIntro)
	for _, e := range events {
		fmt.Fprintf(&page, "\n## %s\n\n%s\n\n```json\n%s\n```\n", e.Type, e.Summary, e.Text)
	}
	page.WriteString("\n## Programs that check the signature\n")
	for _, p := range programs {
		fmt.Fprintf(&page, "\n### %s\n\n```%s\n%s\n```\n", p.Language, strings.TrimPrefix(filepath.Ext(p.File), "."), p.Text)
	}
	return page.String()
}

const errorsIntro = `# Errors

Every error has the same form: a sentence for people, and a code for programs.

` + "```json" + `
{"error": "Business not found", "messageCode": "business_not_found"}
` + "```" + `

- Decide by the status and the code. The sentence may change.
- Expect new codes. Treat an unknown code by its status.
- Every answer has the header ` + "`traceparent`" + `. Send it to the operator when you ask for help.
- After most errors, nothing was booked. After ` + "`outcome_unknown`" + `, the request may have booked. After
  ` + "`idempotency_in_progress` and `idempotency_mismatch`" + `, an earlier request with the same key may
  have booked.

| status | code | what to do |
|---|---|---|
`

const programsIntro = `# Quick start

Three calls lead to a booking: what is offered, when it is free, and the booking. The programs below
make these calls. Tests run each of them as it is shown.

Set four variables:

| variable | value |
|---|---|
| ` + "`BASE`" + ` | the address of the installation, such as ` + "`https://book.example.com`" + ` |
| ` + "`SLUG`" + ` | the name of the business in addresses, such as ` + "`harbor-studio`" + ` |
| ` + "`DAY`" + ` | a date on which the first service is free, such as ` + "`2027-03-01`" + ` |
| ` + "`SLOTMESH_KEY`" + ` | an [API key](authentication.md) with the scope ` + "`write` or `all`" + ` |
`

const programsEnd = `
## After the booking

- The answer is 201 with the booking.
- If ` + "`paymentRequired`" + ` is true, the customer pays: give ` + "`payment.client_secret`" + ` to the code of the
  payment provider in the customer's browser.
- ` + "`manage_url`" + ` is the customer's own page. The customer can pay, reschedule and cancel there.
- A time that ` + "`/slots`" + ` lists can be booked until another customer books it.
- ` + "`computed: false`" + ` means that the times could not be read now. Do not show this as fully booked.
`

const eventsIntro = `# Webhook events

These are all types of events that [webhooks](webhooks.md) send. Each has an example of the complete
body. New types may be added: ignore a type that you do not know.
`
