package tools

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/slotmesh/slotmesh/libs/contracts/availability"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/libs/platform/request"
)

// oneProvider is the value of the argument `staffing_mode` that
// stands for every mode of the HTTP API except per_service.
const oneProvider = "one_provider"

// combinedProperties returns the arguments that combine several services in one appointment, and the argument for
// variants. find_slots and book_appointment have the same arguments, so that every slot that find_slots returns can be
// booked.
func combinedProperties() []property {
	return []property{
		optionalProperty("is_package", &jsonschema.Schema{Type: "boolean",
			Description: "True: the services are one package, and each start is offered " +
				"once, with the first staff member who can serve it. False where it is left out. Send the same to " +
				"find_slots and book_appointment."}),
		optionalProperty("staffing_mode",
			oneOfSchema("For a package: one_provider (also when left out) has one staff member "+
				"perform all of it, per_service "+
				"lets each service have its own. Send the same to find_slots and book_appointment.", oneProvider,
				availability.StaffingPerService)),
		optionalProperty("variants", variantsSchema()),
	}
}

func variantsSchema() *jsonschema.Schema {
	const id = "[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"
	most := catalog.MaxVariants
	return &jsonschema.Schema{
		Type: "array", Items: &jsonschema.Schema{Type: "string", Pattern: "^" + id + ":" + id + "$"}, MaxItems: &most,
		Description: "Variants to take instead of the services themselves: pairs serviceId:variantId of ids from " +
			"list_services, at most one for each service. Send the same to find_slots and book_appointment.",
	}
}

// addCombined reads the arguments of [combinedProperties] and sets the
// corresponding query parameters of /slots and /available-dates.
func (a arguments) addCombined(query url.Values) error {
	var isPackage bool
	if raw, ok := a["is_package"]; ok && json.Unmarshal(raw, &isPackage) != nil {
		return request.Invalid("is_package: send true or false.")
	}
	if isPackage {
		query.Set("is_package", "true")
	}
	mode, err := a.text("staffing_mode")
	if err != nil {
		return err
	}
	switch mode {
	case "", oneProvider:
	case availability.StaffingPerService:
		query.Set("staffing_mode", mode)
	default:
		return request.Invalid("staffing_mode: %s is none; send %s or %s.", request.Quote(mode), oneProvider,
			availability.StaffingPerService)
	}
	var pairs []string
	if raw, ok := a["variants"]; ok && json.Unmarshal(raw, &pairs) != nil {
		return request.Invalid("variants: send a list of pairs serviceId:variantId, with ids from list_services.")
	}
	if _, err := catalog.ParseVariants(pairs); err != nil {
		return err
	}
	if len(pairs) > 0 {
		query.Set("variants", strings.Join(pairs, ","))
	}
	return nil
}
