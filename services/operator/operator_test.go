package operator_test

import (
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/services/operator"
)

func TestValidateNamesAllInvalidSettings(t *testing.T) {
	t.Parallel()
	cfg := operator.Config{AdminURL: "console", AdminToken: "short,0123456789abcdef0123456789abcdef"}
	err := cfg.Validate()
	if err == nil {
		t.Fatal("no fault")
	}
	for _, name := range []string{"SLOTMESH_SERVER", "SLOTMESH_ADMIN_TOKEN: ", "OPERATOR_RESYNC",
		"OPERATOR_ADMIN_TIMEOUT"} {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%s is not named: %v", name, err)
		}
	}
	if strings.Contains(err.Error(), "short") {
		t.Errorf("the token is shown: %v", err)
	}
}
