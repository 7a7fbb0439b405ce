package form

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/shopspring/decimal"

	"github.com/slotmesh/slotmesh/services/console/internal/offer/document"
)

// InvalidPosition is the id of the text that describes an error in a [Position] field.
const InvalidPosition = "position_wrong"

// maxPositionDecimals is the maximum number of decimals of a coordinate in the manifest. Map applications show more
// decimals, but the additional decimals are beyond any accuracy, so parsePosition rounds them away.
const maxPositionDecimals = 7

// positions match a latitude and a longitude with decimal points or with decimal commas.
var positions = []*regexp.Regexp{
	regexp.MustCompile(`^([-−]?\d{1,3}(?:\.\d{1,20})?)°?[,;\s]+([-−]?\d{1,3}(?:\.\d{1,20})?)°?$`),
	regexp.MustCompile(`^([-−]?\d{1,3}(?:,\d{1,20})?)°?(?:\s*;|,?\s)\s*([-−]?\d{1,3}(?:,\d{1,20})?)°?$`),
}

// parsePosition converts the text of a position to an object of the manifest. If the text is invalid, the second result
// is the id of the text that describes the error.
func parsePosition(value string) (any, string) {
	value = strings.ReplaceAll(normalizeDigits(value), "،", ",")
	for _, form := range positions {
		found := form.FindStringSubmatch(value)
		if found == nil {
			continue
		}
		lat, latOK := parseCoordinate(found[1], 90)
		lon, lonOK := parseCoordinate(found[2], 180)
		if latOK && lonOK {
			return document.Fields{"lat": lat, "lon": lon}, ""
		}
	}
	return nil, InvalidPosition
}

// parseCoordinate parses a coordinate whose absolute value is at most `most` degrees.
func parseCoordinate(text string, most int64) (json.Number, bool) {
	d, err := decimal.NewFromString(strings.NewReplacer(",", ".", "−", "-").Replace(text))
	if err != nil || d.Abs().GreaterThan(decimal.NewFromInt(most)) {
		return "", false
	}
	if d.Exponent() < -maxPositionDecimals {
		d = d.Round(maxPositionDecimals)
	}
	return json.Number(d.StringFixed(max(0, -d.Exponent()))), true
}

// formatPosition returns a position of the manifest as a person types it.
func formatPosition(value any) string {
	position, _ := value.(document.Fields)
	lat, lon := formatText(position["lat"]), formatText(position["lon"])
	if lat == "" && lon == "" {
		return ""
	}
	return lat + ", " + lon
}
