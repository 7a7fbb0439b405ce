package manifest

import _ "embed" // the schema

// Schema is the JSON Schema (2020-12) of a manifest, generated from the types.
//
//go:embed manifest.schema.json
var Schema []byte
