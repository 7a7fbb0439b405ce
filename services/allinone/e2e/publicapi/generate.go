// Package publicapi is what a client's author gets who knows nothing but the OpenAPI document of the public interface: Go
// code made by oapi-codegen. The end-to-end tests read and book with it; `make generate` keeps it in step.
package publicapi

//go:generate go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -generate types,client -package publicapi -o client.gen.go ../../../catalog/internal/docs/public.yaml
