//go:build !race

// The race detector makes packing and unpacking ten times as slow and big, and finds nothing in it: `make test` runs
// these without it.

package images

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"crypto/x509"
	"debug/buildinfo"
	"debug/elf"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

// limit is the most that an image may weigh in a registry, in bytes.
const limit = 30_000_000

// checkout is the folder of the repository. Go's test cache follows only files of this module: by this variable, which
// withstores sets to a hash of all files, it runs a test again after a change of any other file too.
func checkout() string {
	_ = os.Getenv("SLOTMESH_TEST_CHECKOUT")
	return "../.."
}

func testSource() Source {
	return Source{
		Root:     checkout(),
		Version:  "test",
		Revision: "0123abcd",
		Created:  time.Unix(1_700_000_000, 0),
		Arch:     runtime.GOARCH,
	}
}

func TestServicesAreThoseOfTheTableOfComponentsTheFrontAndTheOperator(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile(filepath.Join(checkout(), "charts/slotmesh/files/components.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"front", "operator"} // nobody calls them: they are in no table
	for _, match := range regexp.MustCompile(`(?m)^([a-z]+):$`).FindAllStringSubmatch(string(table), -1) {
		want = append(want, match[1])
	}
	slices.Sort(want)
	got, err := Services(checkout())
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestServiceImages holds every service's archive against what the README promises of it.
func TestServiceImages(t *testing.T) {
	t.Parallel()
	services, err := Services(checkout())
	if err != nil {
		t.Fatal(err)
	}
	for _, service := range services {
		t.Run(service, func(t *testing.T) {
			t.Parallel()
			img, root := saved(t, service)
			checkConfig(t, service, img)
			checkWeight(t, img)
			commands := []string{service}
			if service == "console" {
				commands = append(commands, "slotmesh")
			}
			checkFiles(t, commands, img, root)
			for _, command := range commands {
				checkProgram(t, filepath.Join(root, place(service, command)))
				checkMaterials(t, filepath.Join(root, place(service, command)),
					filepath.Join(root, "sbom", command+".cdx.json"))
			}
			checkCertificates(t, root)
			checkStart(t, root)
		})
	}
}

func TestOperatorsCommandKnowsTimeZonesAndItsVersionInItsImage(t *testing.T) {
	t.Parallel()
	_, root := saved(t, "console")
	demo, err := os.ReadFile(filepath.Join(checkout(), "charts/slotmesh/files/demo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "demo.yaml"), demo, 0o644); err != nil {
		t.Fatal(err)
	}
	if said, err := confined(t, root, 65532, "/slotmesh", "validate", "-f", "/demo.yaml").CombinedOutput(); err != nil {
		t.Errorf("validating a manifest with a time zone: %v: %s", err, said)
	}
	if said, err := confined(t, root, 65532, "/slotmesh", "version").CombinedOutput(); err != nil ||
		string(said) != "slotmesh test "+runtime.Version()+"\n" {
		t.Errorf("it says that it is %q, %v", said, err)
	}
}

func TestSameSourceGivesTheSameImage(t *testing.T) {
	t.Parallel()
	var digests []string
	for range 2 {
		img, _ := saved(t, "pricing")
		digest, err := img.Digest()
		if err != nil {
			t.Fatal(err)
		}
		digests = append(digests, digest.String())
	}
	if digests[0] != digests[1] {
		t.Errorf("two builds of one commit differ: %s", digests)
	}
}

func TestUnknownServiceIsRefusedByName(t *testing.T) {
	t.Parallel()
	_, err := Save(t.Context(), testSource(), "catalogue", t.TempDir())
	if err == nil || err.Error() != "image of catalogue: there is no service of that name" {
		t.Errorf("got %v", err)
	}
}

func TestImageOfAProgramHoldsOnlyIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("static"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "program.tar")
	if err := SaveProgram(t.Context(), "localhost/program:1", program, file, nil); err != nil {
		t.Fatal(err)
	}
	root := unpack(t, load(t, "localhost/program:1", file))
	got, err := os.ReadFile(filepath.Join(root, "service"))
	if err != nil || string(got) != "static" {
		t.Errorf("got %q, %v", got, err)
	}
}

// A further program finds its libraries in the image, and the first one lies there by its name, too.
func TestImageOfAProgramHoldsFurtherFilesAndWhatTheyLoad(t *testing.T) {
	t.Parallel()
	needDebian(t)
	dir := t.TempDir()
	program, settings := filepath.Join(dir, "program"), filepath.Join(dir, "settings.json")
	for path, content := range map[string]string{program: "static", settings: "{}"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "program.tar")
	further := map[string]string{"usr/local/bin/shell": "/usr/bin/dash", "var/lib/settings.json": settings}
	if err := SaveProgram(t.Context(), "localhost/program:1", program, file, further); err != nil {
		t.Fatal(err)
	}
	root := unpack(t, load(t, "localhost/program:1", file))
	said, err := confined(t, root, storeUser, "/usr/local/bin/shell", "-c",
		"read -r line < /var/lib/settings.json || test -n \"$line\"; echo $line").CombinedOutput()
	if err != nil || string(said) != "{}\n" {
		t.Errorf("got %q, %v", said, err)
	}
	if to, err := os.Readlink(filepath.Join(root, "usr/local/bin/program")); err != nil || to != "/service" {
		t.Errorf("the program's name leads to %q, %v", to, err)
	}
}

// TestStoresRunFromTheirImages starts each program of the images made of Debian packages, which loads its libraries.
func TestStoresRunFromTheirImages(t *testing.T) {
	t.Parallel()
	needDebian(t)
	for image, programs := range map[string][]string{
		"postgres": {"postgres", "initdb", "psql", "pg_isready", "chmod", "seq", "sleep"},
		"redis":    {"redis-server", "redis-cli"},
	} {
		t.Run(image, func(t *testing.T) {
			t.Parallel()
			_, root := saved(t, image)
			for _, program := range programs {
				if said, err := confined(t, root, storeUser, "/bin/sh", "-c",
					"exec "+program+" --version").CombinedOutput(); err != nil {
					t.Errorf("%s --version: %v: %s", program, err, said)
				}
			}
		})
	}
}

// TestRedisAnswersFromOutsideItsContainer starts the server as the chart does, with arguments in place of the image's
// own, and asks it from another address than 127.0.0.1, the one that Redis takes for its own machine.
func TestRedisAnswersFromOutsideItsContainer(t *testing.T) {
	t.Parallel()
	needDebian(t)
	const outside = "127.0.0.2"
	_, root := saved(t, "redis")
	port := freePort(t)
	address := net.JoinHostPort(outside, port)
	server := confined(t, root, storeUser, "/docker-entrypoint.sh", "redis-server", "--save", "", "--port", port)
	log, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = server.Process.Kill(), server.Wait() })
	defer time.AfterFunc(5*time.Minute, func() { _ = server.Process.Kill() }).Stop()
	for lines := bufio.NewScanner(log); !strings.Contains(lines.Text(), "Ready to accept connections"); {
		if !lines.Scan() {
			t.Fatal("the server ended, or was not ready in time")
		}
	}
	if answer, err := ping(outside, address); answer != "+PONG\r\n" {
		t.Errorf("PING is answered by %q, %v", answer, err)
	}
}

// freePort is a port that no address of this machine has in use, below those that the system gives to callers.
func freePort(t *testing.T) string {
	t.Helper()
	for range 1000 {
		port := strconv.Itoa(12000 + rand.IntN(18000))
		listener, err := net.Listen("tcp", ":"+port)
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
		return port
	}
	t.Fatal("there is no free port between 12000 and 30000")
	return ""
}

// needDebian skips a test of images that are put together from packages which only Debian and its kin have: there is
// nothing to make them of elsewhere, and nothing that runs elsewhere needs them.
func needDebian(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("dpkg-query"); err != nil {
		t.Skip("the trial's store images are made of Debian's packages, and there is no dpkg here to read them")
	}
}

// ping asks the server at an address from another address of this machine.
func ping(from, address string) (string, error) {
	dialer := net.Dialer{Timeout: time.Minute, LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := dialer.Dial("tcp", address)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return "", err
	}
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return "", err
	}
	answer := make([]byte, 256)
	n, err := conn.Read(answer)
	return string(answer[:n]), err
}

// saved makes an image, reads its archive and unpacks it.
func saved(t *testing.T, what string) (v1.Image, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	dir := t.TempDir()
	ref, err := Save(ctx, testSource(), what, dir)
	if err != nil {
		t.Fatal(err)
	}
	archives, err := filepath.Glob(filepath.Join(dir, "*.tar"))
	if err != nil || len(archives) != 1 {
		t.Fatalf("got the archives %v, %v", archives, err)
	}
	img := load(t, ref, archives[0])
	return img, unpack(t, img)
}

func load(t *testing.T, ref, archive string) v1.Image {
	t.Helper()
	tag, err := name.NewTag(ref)
	if err != nil {
		t.Fatal(err)
	}
	img, err := tarball.ImageFromPath(archive, &tag)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// unpack lays the image's files out below a folder that every user may enter.
func unpack(t *testing.T, img v1.Image) string {
	t.Helper()
	root, err := os.MkdirTemp("/tmp", "slotmesh-image-test-") // t.TempDir lies below folders that others cannot enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	if err := os.Chmod(root, 0o755); err != nil {
		t.Fatal(err)
	}
	eachFile(t, img, func(h *tar.Header, content []byte) {
		at := filepath.Join(root, h.Name)
		var err error
		switch h.Typeflag {
		case tar.TypeDir:
			err = os.MkdirAll(at, 0o755)
		case tar.TypeSymlink:
			err = os.Symlink(h.Linkname, at)
		default:
			err = os.WriteFile(at, content, os.FileMode(h.Mode)&0o777)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	return root
}

func place(service, command string) string {
	if command == service {
		return "service"
	}
	return command
}

func checkConfig(t *testing.T, service string, img v1.Image) {
	t.Helper()
	file, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	if file.OS != "linux" || file.Architecture != runtime.GOARCH {
		t.Errorf("the image is for %s/%s", file.OS, file.Architecture)
	}
	if file.Config.User != "65532:65532" || !slices.Equal(file.Config.Entrypoint, []string{"/service"}) ||
		file.Config.Cmd != nil {
		t.Errorf("it runs %v %v as %q", file.Config.Entrypoint, file.Config.Cmd, file.Config.User)
	}
	want := map[string]string{
		"org.opencontainers.image.title":       "slotmesh-" + service,
		"org.opencontainers.image.description": "Slotmesh's " + service + " service",
		"org.opencontainers.image.source":      "https://github.com/slotmesh/slotmesh",
		"org.opencontainers.image.version":     "test",
		"org.opencontainers.image.revision":    "0123abcd",
		"org.opencontainers.image.created":     "2023-11-14T22:13:20Z",
		"org.opencontainers.image.base.name":   "scratch",
		"io.slotmesh.sbom":                     "/sbom",
	}
	if diff := cmp.Diff(want, file.Config.Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}

func checkWeight(t *testing.T, img v1.Image) {
	t.Helper()
	manifest, err := img.Manifest()
	if err != nil {
		t.Fatal(err)
	}
	total := manifest.Config.Size
	for _, l := range manifest.Layers {
		total += l.Size
	}
	t.Logf("%.1f MB", float64(total)/1e6)
	if total >= limit {
		t.Errorf("the image weighs %d bytes, more than %d", total, limit)
	}
}

// checkFiles wants exactly the promised files, all root's and writable by nobody else.
func checkFiles(t *testing.T, commands []string, img v1.Image, root string) {
	t.Helper()
	want := []string{certificates, "service"}
	for i, command := range commands {
		want = append(want, "sbom/"+command+".cdx.json")
		if i > 0 {
			want = append(want, command)
		}
	}
	var got []string
	eachFile(t, img, func(h *tar.Header, _ []byte) {
		if h.Uid != 0 || h.Gid != 0 || h.Mode&0o7022 != 0 {
			t.Errorf("%s belongs to %d:%d with mode %o", h.Name, h.Uid, h.Gid, h.Mode)
		}
		if h.Typeflag == tar.TypeReg {
			got = append(got, h.Name)
		}
	})
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files of %s (-want +got):\n%s", root, diff)
	}
}

// checkProgram wants a program that needs nothing else to run, and names no folder of the machine that built it.
func checkProgram(t *testing.T, program string) {
	t.Helper()
	file, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	libraries, err := file.ImportedLibraries()
	interpreted := slices.ContainsFunc(file.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP })
	if err == nil && (len(libraries) > 0 || interpreted) {
		t.Errorf("%s is not static: it loads %v", program, libraries)
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	if settings["CGO_ENABLED"] != "0" || settings["-trimpath"] != "true" {
		t.Errorf("%s was built with %v", program, settings)
	}
	content, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs(checkout())
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(content, []byte(here+"/")) {
		t.Errorf("%s names the folder it was built in", program)
	}
}

// checkMaterials wants each module that the linker names in the bill of materials, and the standard library.
func checkMaterials(t *testing.T, program, document string) {
	t.Helper()
	content, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	var bom cyclonedx.BOM
	if err := json.Unmarshal(content, &bom); err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"std": strings.TrimPrefix(info.GoVersion, "go")}
	for _, module := range info.Deps {
		want[module.Path] = module.Version
		if module.Replace != nil {
			want[module.Path] = ""
		}
	}
	got := map[string]string{}
	for _, c := range *bom.Components {
		got[c.Name] = c.Version
		if c.Version != "" && c.Name != "std" && c.Hashes == nil {
			t.Errorf("%s has no checksum", c.Name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("materials of %s (-want +got):\n%s", program, diff)
	}
	if bom.SpecVersion != cyclonedx.SpecVersion1_6 ||
		bom.Metadata.Component.Name != strings.TrimSuffix(filepath.Base(document), ".cdx.json") {
		t.Errorf("%s describes %q in version %v", document, bom.Metadata.Component.Name, bom.SpecVersion)
	}
}

func checkCertificates(t *testing.T, root string) {
	t.Helper()
	bundle, err := os.ReadFile(filepath.Join(root, certificates))
	if err != nil {
		t.Fatal(err)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(bundle) {
		t.Errorf("%s holds no certificate", certificates)
	}
}

// checkStart runs the service where there is nothing but its image, as the image's user: without settings it says so.
func checkStart(t *testing.T, root string) {
	t.Helper()
	said, err := confined(t, root, 65532, "/service", "no-such-command").CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("it ended with %v: %s", err, said)
	}
	if !bytes.Contains(said, []byte("settings: ")) && !bytes.Contains(said, []byte("unknown arguments")) {
		t.Errorf("it said %q", said)
	}
}

// confined runs a program of an unpacked image with the image as its root, as another user: with a user namespace where
// this test is not root.
func confined(t *testing.T, root string, user int, program string, args ...string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Path, cmd.Err = program, nil // of the new root
	cmd.Dir, cmd.Env = "/", []string{"PATH=/usr/local/bin:/usr/bin:/"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: root}
	if os.Getuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(user), Gid: uint32(user)}
		return cmd
	}
	cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
	cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: user, HostID: os.Getuid(), Size: 1}}
	cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: user, HostID: os.Getgid(), Size: 1}}
	return cmd
}
