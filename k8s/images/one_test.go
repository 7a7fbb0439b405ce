package images

import (
	"slices"
	"testing"
)

// TestOneImageHasFoldersOfItsUser checks the configuration and the folders. `make dist-test` builds the image and starts
// its program.
func TestOneImageHasFoldersOfItsUser(t *testing.T) {
	t.Parallel()
	cfg := newOneConfig(Source{Version: "1.2.3"})
	if cfg.User != serviceUser || !slices.Equal(cfg.Entrypoint, []string{"/slotmesh"}) ||
		!slices.Equal(cfg.Cmd, []string{"serve"}) || cfg.Labels["org.opencontainers.image.version"] != "1.2.3" {
		t.Errorf("%+v", cfg)
	}
	if !slices.Equal(cfg.Healthcheck.Test, []string{"CMD", "/slotmesh", "health"}) ||
		!slices.Contains(cfg.Env, "OPS_PORT=8091") {
		t.Errorf("the health check does not reach OPS_PORT: %+v", cfg)
	}
	for _, folder := range oneFolders {
		if folder.path == "data" && folder.owner != 65532 || folder.path == "tmp" && folder.mode != 0o1777 {
			t.Errorf("%s: owner %d, mode %o", folder.path, folder.owner, folder.mode)
		}
	}
}
