// Package config loads the settings of a service from environment variables.
package config

import (
	"context"
	"encoding"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/sethvargo/go-envconfig"
)

// Validator is a struct of settings that can check its own values, including values that depend on each other. The
// error of Validate names the variables with invalid values.
type Validator interface {
	Validate() error
}

// Load fills the struct to which `cfg` points. The fields have go-envconfig tags, and their values come from the
// variables that the argument `from` finds. The values of fields with the tag `secret:"true"` may also come from files, as
// [LookupSecret] describes. Then Load calls Validate on the struct and on each nested struct, if they
// are a [Validator]. Load returns one error that lists all problems, each with the name of the variable.
func Load(ctx context.Context, cfg any, from envconfig.Lookuper) error {
	problems := load(ctx, reflect.ValueOf(cfg).Elem(), from)
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("settings: %s", strings.Join(problems, "; "))
}

// load fills the struct `target` field by field, because go-envconfig stops at the first error.
func load(ctx context.Context, target reflect.Value, from envconfig.Lookuper) []string {
	var problems []string
	for i := range target.NumField() {
		field := target.Type().Field(i)
		if !field.IsExported() {
			continue // unexported fields are not settings
		}
		tag := field.Tag.Get("env")
		if isGroup(field) {
			problems = append(problems, load(ctx, target.Field(i), withPrefix(from, tag))...)
			continue
		}
		name, _, _ := strings.Cut(tag, ",")
		from, err := withSecretFile(from, name, field)
		if err != nil {
			problems = append(problems, err.Error())
			continue
		}
		if err := loadField(ctx, target.Field(i), field, from); err != nil {
			problems = append(problems, fmt.Sprintf("%s: %s", name, describeError(field.Type, name, from, err)))
		}
	}
	if v, ok := target.Addr().Interface().(Validator); ok && len(problems) == 0 {
		if err := v.Validate(); err != nil {
			problems = append(problems, err.Error())
		}
	}
	return problems
}

// describeError returns a sentence about the error of the setting `name`, which has the Go type `of`. For durations,
// log levels, booleans and integers, the sentence contains the value and describes valid values. For other types,
// describeError returns only the text of err, because the value may be a secret.
func describeError(of reflect.Type, name string, from envconfig.Lookuper, err error) string {
	value, given := from.Lookup(name)
	if !given {
		return err.Error()
	}
	switch {
	case of == reflect.TypeFor[time.Duration]():
		return fmt.Sprintf("%q is not a duration; write one such as 2s or 500ms", value)
	case of == reflect.TypeFor[slog.Level]():
		return fmt.Sprintf("%q is not a level; write debug, info, warn or error", value)
	case of.Kind() == reflect.Bool:
		return fmt.Sprintf("%q is neither true nor false", value)
	case of.Kind() >= reflect.Int && of.Kind() <= reflect.Uint64:
		return fmt.Sprintf("%q is not a whole number that fits; write one such as 8080", value)
	}
	return err.Error()
}

func isGroup(field reflect.StructField) bool {
	_, scalar := reflect.New(field.Type).Interface().(encoding.TextUnmarshaler)
	return field.Type.Kind() == reflect.Struct && !scalar
}

func withPrefix(from envconfig.Lookuper, tag string) envconfig.Lookuper {
	_, prefix, found := strings.Cut(tag, "prefix=")
	if !found {
		return from
	}
	return envconfig.PrefixLookuper(prefix, from)
}

// loadField sets the value `into` of one field of a struct. go-envconfig fills only structs, so loadField uses a
// temporary struct that has only this field.
func loadField(ctx context.Context, into reflect.Value, field reflect.StructField, from envconfig.Lookuper) error {
	single := reflect.New(reflect.StructOf([]reflect.StructField{{Name: field.Name, Type: field.Type, Tag: field.Tag}}))
	single.Elem().Field(0).Set(into)
	if err := envconfig.ProcessWith(ctx, &envconfig.Config{Target: single.Interface(), Lookuper: from}); err != nil {
		return err
	}
	into.Set(single.Elem().Field(0))
	return nil
}

// Names returns the names of the environment variables that [Load] reads for cfg, sorted and without duplicates.
func Names(cfg any) []string {
	var names []string
	collectNames(reflect.TypeOf(cfg).Elem(), "", func(name string, _ reflect.StructField) {
		names = append(names, name)
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// collectNames calls `add` with the name of the variable of each setting, and with the setting's field.
func collectNames(group reflect.Type, prefix string, add func(name string, field reflect.StructField)) {
	for i := range group.NumField() {
		field := group.Field(i)
		if !field.IsExported() {
			continue
		}
		tag := field.Tag.Get("env")
		name, _, _ := strings.Cut(tag, ",")
		_, further, _ := strings.Cut(tag, "prefix=")
		if isGroup(field) {
			collectNames(field.Type, prefix+further, add)
			continue
		}
		if name = strings.TrimSpace(name); name != "" {
			add(prefix+name, field)
		}
	}
}
