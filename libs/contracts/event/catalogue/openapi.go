package catalogue

import "encoding/json"

type object = map[string]any

// Webhooks returns the JSON value of the member `webhooks` of an OpenAPI 3.1 document. The value
// contains one operation with an example payload for each type of event. If `hasSchemas` is true,
// the operations refer to the schemas of the admin API, which the document must then contain.
func Webhooks(hasSchemas bool) ([]byte, error) {
	all := object{}
	for _, e := range Entries {
		payload, err := e.Payload()
		if err != nil {
			return nil, err
		}
		operation := object{
			"operationId": "webhook." + string(e.Type), "tags": []string{"Webhooks"}, "summary": e.Summary,
			"security":   []any{},
			"parameters": headers(),
			"requestBody": object{"required": true, "content": object{"application/json": object{
				"schema": e.schema(hasSchemas), "example": json.RawMessage(payload),
			}}},
			"responses": object{
				"2XX": object{"description": "The endpoint has taken the event."},
				"410": object{"description": "The endpoint is gone; Slotmesh disables it."},
			},
		}
		all[string(e.Type)] = object{"post": operation}
	}
	return json.Marshal(all)
}

// headers describes the headers that Standard Webhooks defines.
func headers() []object {
	header := func(name, description string) object {
		return object{"name": name, "in": "header", "required": true, "description": description,
			"schema": object{"type": "string"}}
	}
	return []object{
		header("webhook-id", "The id of the event, the same in each attempt."),
		header("webhook-timestamp", "The time of the attempt, in seconds since 1970."),
		header("webhook-signature", "The signatures of Standard Webhooks, one for each secret."),
	}
}

// schema returns the JSON Schema of the payload.
func (e Entry) schema(hasSchemas bool) object {
	data := object{
		"type": "object", "required": []string{"business_id", "sequence"},
		"properties": object{
			"business_id": object{"type": "string", "format": "uuid"},
			"slug":        object{"type": "string", "description": "Of the business; left out if it is removed."},
			"sequence":    object{"type": "integer", "minimum": 1, "description": "Counts the events of a subject."},
		},
	}
	if hasSchemas && e.Schema != "" {
		data = object{"allOf": []any{object{"$ref": "#/components/schemas/" + e.Schema}, data}}
	} else {
		data["additionalProperties"] = true // the default, stated for linters that assume false
	}
	return object{
		"type": "object", "required": []string{"type", "timestamp", "data"},
		"properties": object{
			"type":      object{"const": string(e.Type)},
			"timestamp": object{"type": "string", "format": "date-time"},
			"data":      data,
		},
	}
}
