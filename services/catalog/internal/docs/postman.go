package docs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// operation holds the fields of an OpenAPI operation that appear in a request of the Postman collection.
type operation struct {
	Summary, Description string
	Tags                 []string
	Parameters           []parameter
	Security             []any
	RequestBody          struct {
		Content map[string]struct {
			Example  any
			Examples yaml.Node // examples in the order of the document; the first one is the smallest
		}
	} `yaml:"requestBody"`
}

type parameter struct {
	Ref                   string `yaml:"$ref"`
	Name, In, Description string
	Required              bool
	Example               any
}

// specification is the parsed OpenAPI document. The paths are in the order of the document.
type specification struct {
	Info struct{ Title, Version, Summary string }
	Tags []struct{ Name, Description string }
	// Paths maps each path to its operations by HTTP method.
	Paths      yaml.Node
	Components struct{ Parameters map[string]parameter }
}

type object = map[string]any

// anySite is the base URL in the cached collection; [fillSite] replaces it with the real base URL.
const anySite = "https://book.example"

// fillSite returns the collection with the base URL `site` instead of [anySite].
func fillSite(collection []byte, site string) []byte {
	quoted, _ := json.Marshal(site) // a string can always be encoded
	return bytes.ReplaceAll(collection, []byte(`"`+anySite+`"`), quoted)
}

// convertToPostman converts the OpenAPI document to a Postman collection (v2.1). The collection has a folder for
// each tag and a request for each operation. Site, business and API key are variables of the collection.
func convertToPostman(source []byte) ([]byte, error) {
	var d specification
	if err := yaml.Unmarshal(source, &d); err != nil {
		return nil, fmt.Errorf("the document as a collection: %w", err)
	}
	folders := make(map[string][]object)
	for i := 0; i+1 < len(d.Paths.Content); i += 2 {
		path, methods := d.Paths.Content[i].Value, d.Paths.Content[i+1]
		for j := 0; j+1 < len(methods.Content); j += 2 {
			method := methods.Content[j].Value
			if method == "parameters" { // the path parameter slug, which all methods share
				continue
			}
			var o operation
			if err := methods.Content[j+1].Decode(&o); err != nil {
				return nil, fmt.Errorf("%s %s as a request: %w", method, path, err)
			}
			request, err := d.newRequest(method, path, o)
			if err != nil {
				return nil, err
			}
			folders[o.Tags[0]] = append(folders[o.Tags[0]], object{"name": o.Summary, "request": request})
		}
	}
	var items []object
	for _, tag := range d.Tags {
		if len(folders[tag.Name]) == 0 { // the tag of webhooks has no requests, because clients do not send webhooks
			continue
		}
		items = append(items, object{"name": tag.Name, "description": tag.Description, "item": folders[tag.Name]})
	}
	return json.Marshal(object{
		"info": object{
			"name": d.Info.Title, "description": d.Info.Summary, "version": d.Info.Version,
			"schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json",
		},
		"item": items,
		"variable": []object{
			{"key": "baseUrl", "value": anySite}, {"key": "slug", "value": "harbor-studio"},
			{"key": "apiKey", "value": ""},
		},
	})
}

// newRequest converts an operation to a request of the collection. It disables optional parameters.
func (d *specification) newRequest(method, path string, o operation) (object, error) {
	headers, query := []object{}, []object{}
	for _, p := range o.Parameters {
		if p.Ref != "" {
			p = d.Components.Parameters[p.Ref[strings.LastIndex(p.Ref, "/")+1:]]
		}
		value := ""
		if p.Example != nil {
			value = fmt.Sprint(p.Example)
		}
		given := object{"key": p.Name, "value": value, "description": p.Description, "disabled": !p.Required}
		if p.In == "header" {
			headers = append(headers, given)
		} else if p.In == "query" {
			query = append(query, given)
		}
	}
	segments := strings.Split(strings.Replace(strings.Trim(path, "/"), "{slug}", "{{slug}}", 1), "/")
	raw := "{{baseUrl}}/" + strings.Join(segments, "/")
	request := object{
		"method": strings.ToUpper(method), "description": o.Description, "auth": object{"type": "noauth"},
		"url": object{"raw": raw, "host": []string{"{{baseUrl}}"}, "path": segments, "query": query},
	}
	if len(o.Security) > 0 {
		request["auth"] = object{"type": "bearer",
			"bearer": []object{{"key": "token", "value": "{{apiKey}}", "type": "string"}}}
		for _, h := range headers {
			if h["key"] == "Idempotency-Key" {
				h["value"], h["disabled"] = "{{$guid}}", false // Postman inserts a new UUID for each request
			}
		}
	}
	if body, ok := o.RequestBody.Content["application/json"]; ok {
		example := body.Example
		if len(body.Examples.Content) > 1 {
			var first struct{ Value any }
			if err := body.Examples.Content[1].Decode(&first); err != nil {
				return nil, err
			}
			example = first.Value
		}
		text, err := json.MarshalIndent(example, "", "  ")
		if err != nil {
			return nil, fmt.Errorf("the example of %s %s: %w", method, path, err)
		}
		headers = append(headers, object{"key": "Content-Type", "value": "application/json"})
		request["body"] = object{"mode": "raw", "raw": string(text),
			"options": object{"raw": object{"language": "json"}}}
	}
	request["header"] = slices.Clip(headers)
	return request, nil
}
