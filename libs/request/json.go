package request

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// JSON reads a JSON object into a struct, strictly: unknown fields, wrong types and anything after the object are refused
// with a sentence that names the field.
func JSON(body []byte, into any) error {
	if !utf8.Valid(body) {
		return Invalid("The request body is not valid UTF-8; send JSON in UTF-8.")
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return Invalid("%s", bodySentence(err))
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return Invalid("The request body goes on after its JSON object; send one object.")
	}
	return nil
}

// bodySentence says what is wrong with a body in terms of its fields.
func bodySentence(err error) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return fmt.Sprintf("%s: a %s is not right here; write a %s.", FieldOf(wrong), wrong.Value, jsonName(wrong.Type.Kind().String()))
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		return strings.Trim(name, `"`) + ": unknown field; leave it out."
	}
	return "The request body is not a JSON object of the right shape; the description of the API shows one."
}

// FieldOf is the path of a field of the wrong type as whoever wrote the JSON knows it: without the structs that a struct embeds, which
// encoding/json counts as steps of the path. Our fields begin with a small letter, types that are embedded with a capital one.
func FieldOf(wrong *json.UnmarshalTypeError) string {
	return strings.Join(slices.DeleteFunc(strings.Split(wrong.Field, "."), func(step string) bool {
		return step != "" && step[0] >= 'A' && step[0] <= 'Z'
	}), ".")
}

func jsonName(goKind string) string {
	if strings.HasPrefix(goKind, "int") {
		return "whole number"
	}
	return goKind
}
