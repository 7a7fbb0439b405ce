package dist

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // the format of Debian and Ubuntu
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // the format of Fedora and Red Hat
)

// writePackages writes the deb and the rpm of an architecture.
func writePackages(o Options, arch, program string) error {
	monitoring, names, err := writeMonitoring(o)
	if err != nil {
		return err
	}
	defer os.RemoveAll(monitoring)
	contents := o.contents(program)
	for _, name := range names {
		contents = append(contents, o.content(filepath.Join(monitoring, name), "/usr/share/slotmesh/"+name, 0o644))
	}
	for format, relations := range map[string]nfpm.Overridables{
		"deb": {Depends: []string{"ca-certificates", "passwd"},
			Recommends: []string{"postgresql | postgresql-17 | postgresql-16 | postgresql-15", "redis-server"}},
		"rpm": {Depends: []string{"ca-certificates", "shadow-utils"},
			Recommends: []string{"postgresql-server", "(redis or valkey)"}},
	} {
		relations.Contents = contents
		if err := writePackage(o, format, arch, relations); err != nil {
			return fmt.Errorf("%s: %w", format, err)
		}
	}
	return nil
}

// writeMonitoring writes the alerts and the dashboards to a temporary folder, which the caller removes. It returns the
// folder and the names of the files.
func writeMonitoring(o Options) (string, []string, error) {
	const source = "/charts/slotmesh/files/"
	rules, err := newAlerts(o.file(source + "alerts.yaml"))
	if err != nil {
		return "", nil, err
	}
	folder, err := os.MkdirTemp("", "slotmesh-monitoring-")
	if err != nil {
		return "", nil, err
	}
	names, err := writeDashboards(o.file(source+"dashboards.yaml"), folder)
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "alerts.yaml"), rules, 0o644)
	}
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(folder))
	}
	return folder, append(names, "alerts.yaml"), nil
}

func writePackage(o Options, format, arch string, described nfpm.Overridables) error {
	described.Scripts = nfpm.Scripts{PreInstall: o.file("files/preinstall.sh"),
		PostInstall: o.file("files/postinstall.sh"), PreRemove: o.file("files/preremove.sh")}
	info := nfpm.WithDefaults(&nfpm.Info{
		Name: "slotmesh", Arch: arch, Platform: "linux", Version: o.Source.Version, VersionSchema: "semver",
		Section: "web", Priority: "optional", Maintainer: "Slotmesh <packages@slotmesh.example>", Vendor: "Slotmesh",
		Homepage: "https://github.com/slotmesh/slotmesh", License: "Apache-2.0", MTime: o.Source.Created,
		Description: "Booking platform for many businesses\n" +
			"Slotmesh runs as one process with PostgreSQL and Redis. Customers book on its pages,\n" +
			"programs by its HTTP API, and agents by its MCP server.",
		Overridables: described,
	})
	info.RPM.Summary = "Booking platform for many businesses"
	info.RPM.BuildHost = "slotmesh"
	info.Deb.Compression, info.RPM.Compression = "zstd", "zstd"
	if o.Key != "" {
		info.Deb.Signature.KeyFile, info.Deb.Signature.KeyPassphrase = o.Key, o.Passphrase
		info.RPM.Signature.KeyFile, info.RPM.Signature.KeyPassphrase = o.Key, o.Passphrase
	}
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	if err := packager.Package(info, &packed); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(o.Out, packager.ConventionalFileName(info)), packed.Bytes(), 0o644)
}

// contents returns the files of a package, without those for monitoring. The settings survive upgrades.
// Only root and Slotmesh read them.
func (o Options) contents(program string) files.Contents {
	const units, doc = "/usr/lib/systemd/system/", "/usr/share/doc/slotmesh/"
	contents := files.Contents{
		o.content(program, "/usr/bin/slotmesh", 0o755),
		o.content(o.file("files/slotmesh.service"), units+"slotmesh.service", 0o644),
		o.content(o.file("files/slotmesh-backup.service"), units+"slotmesh-backup.service", 0o644),
		o.content(o.file("files/slotmesh-backup.timer"), units+"slotmesh-backup.timer", 0o644),
		o.content(o.file("/LICENSE"), doc+"copyright", 0o644),
		o.content(o.file("/docs/operators/install.md"), doc+"install.md", 0o644),
	}
	for _, example := range []string{"Caddyfile", "nginx.conf", "prometheus.yaml"} {
		contents = append(contents, o.content(o.file("files/"+example), doc+"examples/"+example, 0o644))
	}
	settings := o.content(o.file("files/slotmesh.env"), "/etc/slotmesh/slotmesh.env", 0o640)
	settings.Type, settings.FileInfo.Group = files.TypeConfigNoReplace, "slotmesh"
	folder := o.content("", "/etc/slotmesh", 0o750)
	folder.Type, folder.FileInfo.Group = files.TypeDir, "slotmesh"
	return append(contents, settings, folder)
}

func (o Options) content(source, destination string, mode os.FileMode) *files.Content {
	return &files.Content{Source: source, Destination: destination,
		FileInfo: &files.ContentFileInfo{Owner: "root", Group: "root", Mode: mode, MTime: o.Source.Created}}
}
