package foreign

import (
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// The words for columns of services, in small letters without spaces and signs. "itemname" and "variationname" are the
// columns of Square.
var columns = map[string][]string{
	"name": {"name", "service", "servicename", "item", "itemname", "title", "leistung", "behandlung", "prestation", "nom",
		"servicio", "nombre", "servizio", "nome", "serviço", "dienst", "usługa"},
	"variant":  {"variation", "variationname", "variant", "variante"},
	"duration": {"duration", "minutes", "length", "lengthinminutes", "dauer", "durée", "duración", "durata", "duração", "duur"},
	"price":    {"price", "preis", "prix", "precio", "prezzo", "preço", "prijs", "cena"},
	"staff":    {"staff", "provider", "providers", "employee", "employees", "team", "mitarbeiter", "mitarbeitende", "personnel"},
}

// addCSV adds the rows of a CSV file as services. The first line names the columns.
func (p *parts) addCSV(file []byte) error {
	text := string(file)
	reader := csv.NewReader(strings.NewReader(text))
	reader.FieldsPerRecord, reader.LazyQuotes = -1, true
	if first, _, _ := strings.Cut(text, "\n"); strings.Count(first, ";") > strings.Count(first, ",") {
		reader.Comma = ';'
	}
	head, err := reader.Read()
	if err != nil {
		return fault.New(fault.InvalidParameter, "A file is no JSON and no CSV.")
	}
	of := findColumns(head)
	if of["name"] < 0 {
		return fault.New(fault.InvalidParameter, "A CSV file has no column for the names of services; call it name.")
	}
	for {
		row, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fault.New(fault.InvalidParameter, "A CSV file is not well-formed.")
		}
		cell := func(column string) string {
			if i := of[column]; i >= 0 && i < len(row) {
				return strings.TrimSpace(row[i])
			}
			return ""
		}
		name := cell("name")
		if name == "" {
			continue
		}
		if variant := cell("variant"); variant != "" && !strings.EqualFold(variant, "regular") { // Square's only variation
			name += " – " + variant
		}
		service := Service{Name: name, Minutes: readMinutes(cell("duration")), Price: readPrice(cell("price"))}
		for staff := range strings.FieldsFuncSeq(cell("staff"), func(r rune) bool { return r == ',' || r == ';' || r == '/' }) {
			if staff = strings.TrimSpace(staff); staff != "" {
				service.Staff = append(service.Staff, staff)
			}
		}
		p.rows = append(p.rows, service)
	}
}

// findColumns returns the number of each known column, or -1.
func findColumns(head []string) map[string]int {
	of := map[string]int{}
	for column, names := range columns {
		of[column] = slices.IndexFunc(head, func(text string) bool {
			word := strings.Map(func(r rune) rune {
				if unicode.IsLetter(r) || unicode.IsDigit(r) {
					return unicode.ToLower(r)
				}
				return -1
			}, text)
			return slices.Contains(names, word)
		})
	}
	return of
}
