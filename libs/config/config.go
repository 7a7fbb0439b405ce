// Package config loads a service's settings from the environment.
package config

import (
	"context"
	"encoding"
	"fmt"
	"reflect"
	"strings"

	"github.com/sethvargo/go-envconfig"
)

// Validator is a group of settings that can judge itself as a whole; its error names the variables.
type Validator interface {
	Validate() error
}

// Load fills cfg, a pointer to a struct with go-envconfig tags, from the variables that from looks up, then validates
// every struct in it that is a [Validator]. All faults are reported in one error, each with its variable's name.
func Load(ctx context.Context, cfg any, from envconfig.Lookuper) error {
	faults := load(ctx, reflect.ValueOf(cfg).Elem(), from)
	if len(faults) == 0 {
		return nil
	}
	return fmt.Errorf("settings: %s", strings.Join(faults, "; "))
}

// load processes one struct field by field, because go-envconfig itself stops at the first fault.
func load(ctx context.Context, target reflect.Value, from envconfig.Lookuper) []string {
	var faults []string
	for i := range target.NumField() {
		field := target.Type().Field(i)
		if !field.IsExported() {
			continue // not a setting
		}
		tag := field.Tag.Get("env")
		if isGroup(field) {
			faults = append(faults, load(ctx, target.Field(i), prefixed(from, tag))...)
			continue
		}
		if err := loadField(ctx, target.Field(i), field, from); err != nil {
			name, _, _ := strings.Cut(tag, ",")
			faults = append(faults, fmt.Sprintf("%s: %v", name, err))
		}
	}
	if v, ok := target.Addr().Interface().(Validator); ok && len(faults) == 0 {
		if err := v.Validate(); err != nil {
			faults = append(faults, err.Error())
		}
	}
	return faults
}

func isGroup(field reflect.StructField) bool {
	_, scalar := reflect.New(field.Type).Interface().(encoding.TextUnmarshaler)
	return field.Type.Kind() == reflect.Struct && !scalar
}

func prefixed(from envconfig.Lookuper, tag string) envconfig.Lookuper {
	_, prefix, found := strings.Cut(tag, "prefix=")
	if !found {
		return from
	}
	return envconfig.PrefixLookuper(prefix, from)
}

// loadField processes a struct that holds only this field.
func loadField(ctx context.Context, into reflect.Value, field reflect.StructField, from envconfig.Lookuper) error {
	single := reflect.New(reflect.StructOf([]reflect.StructField{{Name: field.Name, Type: field.Type, Tag: field.Tag}}))
	single.Elem().Field(0).Set(into)
	if err := envconfig.ProcessWith(ctx, &envconfig.Config{Target: single.Interface(), Lookuper: from}); err != nil {
		return err
	}
	into.Set(single.Elem().Field(0))
	return nil
}
