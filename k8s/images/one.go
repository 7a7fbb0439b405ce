package images

import (
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// One is the name of the image with all services in one process. Its program is server and client.
const One = "one"

// oneProgram is the command in the image One.
const oneProgram = "slotmesh"

// oneFolders are the folders of the image One that its user may write to. A new volume at /data gets these folders.
var oneFolders = []entry{
	{path: "data", mode: 0o700, owner: 65532, folder: true},
	{path: "data/backups", mode: 0o700, owner: 65532, folder: true},
	{path: "tmp", mode: 0o1777, folder: true},
}

// newOneConfig returns the configuration of the image with all services in one process. The health check asks the
// process at OPS_PORT, which only the container reaches.
func newOneConfig(src Source) v1.Config {
	cfg := newServiceConfig(src, One)
	cfg.Entrypoint, cfg.Cmd = []string{"/" + oneProgram}, []string{"serve"}
	cfg.Env = append(cfg.Env, "HOST=0.0.0.0", "OPS_PORT=8091", "SLOTMESH_HOME=/data", "SLOTMESH_DEMO=false",
		"SLOTMESH_INSTALL=no", "LOG=stderr")
	cfg.ExposedPorts = map[string]struct{}{"8080/tcp": {}, "8090/tcp": {}}
	cfg.Volumes = map[string]struct{}{"/data": {}}
	cfg.WorkingDir = "/data"
	cfg.Healthcheck = &v1.HealthConfig{Test: []string{"CMD", "/" + oneProgram, "health"}, Interval: 15 * time.Second,
		Timeout: 10 * time.Second, StartPeriod: 3 * time.Minute, Retries: 3}
	cfg.Labels["org.opencontainers.image.description"] = "Slotmesh, all services in one process"
	return cfg
}
