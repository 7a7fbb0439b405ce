package telemetry

import (
	"strings"
	"testing"
)

func TestValidateRejectsInvalidEndpoint(t *testing.T) {
	t.Parallel()
	for endpoint, right := range map[string]bool{
		"": true, "http://127.0.0.1:4318": true, "https://collector.example/base": true,
		"collector:4318": false, "127.0.0.1:4318": false, "grpc://collector:4317": false, "http://": false,
	} {
		err := (&Config{OTLPEndpoint: endpoint}).Validate()
		if (err == nil) != right || err != nil && !strings.HasPrefix(err.Error(), "OTEL_EXPORTER_OTLP_ENDPOINT: ") {
			t.Errorf("%q: %v", endpoint, err)
		}
	}
}
