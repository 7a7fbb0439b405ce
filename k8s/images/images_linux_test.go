//go:build !race

// These tests run without the race detector. It makes packing and unpacking ten times slower, and finds nothing there.

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

// maxImageBytes is the maximum compressed size of an image.
const maxImageBytes = 30_000_000

// findCheckout returns the folder of the repository. It reads a variable that withstores sets to a hash of all files,
// so that Go's test cache repeats a test after a change of any file.
func findCheckout() string {
	_ = os.Getenv("SLOTMESH_TEST_CHECKOUT")
	return "../.."
}

func newTestSource() Source {
	return Source{
		Root:     findCheckout(),
		Version:  "test",
		Revision: "0123abcd",
		Created:  time.Unix(1_700_000_000, 0),
		Arch:     runtime.GOARCH,
	}
}

func TestServicesMatchComponentsTable(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile(filepath.Join(findCheckout(), "charts/slotmesh/files/components.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"front", "operator"} // no service calls them, so they are not in the table
	for _, match := range regexp.MustCompile(`(?m)^([a-z]+):$`).FindAllStringSubmatch(string(table), -1) {
		want = append(want, match[1])
	}
	slices.Sort(want)
	got, err := Services(findCheckout())
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestServiceImages compares each service's archive with the promises in the README.
func TestServiceImages(t *testing.T) {
	t.Parallel()
	services, err := Services(findCheckout())
	if err != nil {
		t.Fatal(err)
	}
	for _, service := range services {
		t.Run(service, func(t *testing.T) {
			t.Parallel()
			img, root := saveAndUnpack(t, service)
			checkConfig(t, service, img)
			checkWeight(t, img)
			commands := []string{service}
			if service == "console" {
				commands = append(commands, "slotmesh")
			}
			checkFiles(t, commands, img, root)
			for _, command := range commands {
				checkProgram(t, filepath.Join(root, findCommandPath(service, command)))
				checkMaterials(t, filepath.Join(root, findCommandPath(service, command)),
					filepath.Join(root, "sbom", command+".cdx.json"))
			}
			checkCertificates(t, root)
			checkStart(t, root)
		})
	}
}

func TestOperatorImageKnowsZonesAndVersion(t *testing.T) {
	t.Parallel()
	_, root := saveAndUnpack(t, "console")
	demo, err := os.ReadFile(filepath.Join(findCheckout(), "charts/slotmesh/files/demo.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "demo.yaml"), demo, 0o644); err != nil {
		t.Fatal(err)
	}
	if output, err := newConfinedCommand(t, root, 65532, "/slotmesh", "validate", "-f",
		"/demo.yaml").CombinedOutput(); err != nil {
		t.Errorf("validating a manifest with a time zone: %v: %s", err, output)
	}
	if output, err := newConfinedCommand(t, root, 65532, "/slotmesh", "version").CombinedOutput(); err != nil ||
		string(output) != "slotmesh test "+runtime.Version()+"\n" {
		t.Errorf("the command prints the version %q, %v", output, err)
	}
}

func TestSaveIsReproducible(t *testing.T) {
	t.Parallel()
	var digests []string
	for range 2 {
		img, _ := saveAndUnpack(t, "pricing")
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

func TestSaveRefusesUnknownService(t *testing.T) {
	t.Parallel()
	_, err := Save(t.Context(), newTestSource(), "catalogue", t.TempDir())
	if err == nil || err.Error() != "image of catalogue: there is no service of that name" {
		t.Errorf("got %v", err)
	}
}

func TestSaveProgramContainsOnlyProgram(t *testing.T) {
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
	root := unpack(t, readArchive(t, "localhost/program:1", file))
	got, err := os.ReadFile(filepath.Join(root, "service"))
	if err != nil || string(got) != "static" {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestSaveProgramAddsLibraries checks that a further program finds its libraries in the image, and that the first
// program can also be called by its name.
func TestSaveProgramAddsLibraries(t *testing.T) {
	t.Parallel()
	skipUnlessDebian(t)
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
	root := unpack(t, readArchive(t, "localhost/program:1", file))
	output, err := newConfinedCommand(t, root, storeUser, "/usr/local/bin/shell", "-c",
		"read -r line < /var/lib/settings.json || test -n \"$line\"; echo $line").CombinedOutput()
	if err != nil || string(output) != "{}\n" {
		t.Errorf("got %q, %v", output, err)
	}
	if to, err := os.Readlink(filepath.Join(root, "usr/local/bin/program")); err != nil || to != "/service" {
		t.Errorf("the program's name leads to %q, %v", to, err)
	}
}

// TestStoreImagesRun starts each program of the images that are built from Debian packages. A program fails if a
// library is missing.
func TestStoreImagesRun(t *testing.T) {
	t.Parallel()
	skipUnlessDebian(t)
	for image, programs := range map[string][]string{
		"postgres": {"postgres", "initdb", "psql", "pg_isready", "chmod", "seq", "sleep"},
		"redis":    {"redis-server", "redis-cli"},
	} {
		t.Run(image, func(t *testing.T) {
			t.Parallel()
			_, root := saveAndUnpack(t, image)
			for _, program := range programs {
				if output, err := newConfinedCommand(t, root, storeUser, "/bin/sh", "-c",
					"exec "+program+" --version").CombinedOutput(); err != nil {
					t.Errorf("%s --version: %v: %s", program, err, output)
				}
			}
		})
	}
}

// TestRedisImageAnswersOtherAddresses starts the server with the chart's arguments, and connects from another address
// than 127.0.0.1, which Redis treats as its own machine.
func TestRedisImageAnswersOtherAddresses(t *testing.T) {
	t.Parallel()
	skipUnlessDebian(t)
	const outside = "127.0.0.2"
	_, root := saveAndUnpack(t, "redis")
	port := findFreePort(t)
	address := net.JoinHostPort(outside, port)
	server := newConfinedCommand(t, root, storeUser, "/docker-entrypoint.sh", "redis-server", "--save", "", "--port",
		port)
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
	if answer, err := pingRedis(outside, address); answer != "+PONG\r\n" {
		t.Errorf("PING is answered by %q, %v", answer, err)
	}
}

// findFreePort returns a port that no address of this machine uses, below those that the system chooses.
func findFreePort(t *testing.T) string {
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
	t.Fatal("no port between 12000 and 30000 is free")
	return ""
}

// skipUnlessDebian skips a test of images that are built from Debian packages, on systems without dpkg.
func skipUnlessDebian(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("dpkg-query"); err != nil {
		t.Skip("the trial's store images are made of Debian's packages, and there is no dpkg here to read them")
	}
}

// pingRedis sends PING to the server at an address from another address of this machine.
func pingRedis(from, address string) (string, error) {
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

// saveAndUnpack saves an image, reads its archive and unpacks it.
func saveAndUnpack(t *testing.T, what string) (v1.Image, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	dir := t.TempDir()
	ref, err := Save(ctx, newTestSource(), what, dir)
	if err != nil {
		t.Fatal(err)
	}
	archives, err := filepath.Glob(filepath.Join(dir, "*.tar"))
	if err != nil || len(archives) != 1 {
		t.Fatalf("got the archives %v, %v", archives, err)
	}
	img := readArchive(t, ref, archives[0])
	return img, unpack(t, img)
}

func readArchive(t *testing.T, ref, archive string) v1.Image {
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

// unpack writes the files of the image below a folder that every user may enter.
func unpack(t *testing.T, img v1.Image) string {
	t.Helper()
	root, err := os.MkdirTemp("/tmp", "slotmesh-image-test-") // other users cannot enter the folders above t.TempDir
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

func findCommandPath(service, command string) string {
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
		t.Errorf("the image runs %v %v as user %q", file.Config.Entrypoint, file.Config.Cmd, file.Config.User)
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
	if total >= maxImageBytes {
		t.Errorf("the image weighs %d bytes, more than %d", total, maxImageBytes)
	}
}

// checkFiles checks that the image contains exactly the promised files, owned by root and writable only by root.
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

// checkProgram checks that a program is statically linked and contains no path of the machine that built it.
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
	here, err := filepath.Abs(findCheckout())
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(content, []byte(here+"/")) {
		t.Errorf("%s names the folder it was built in", program)
	}
}

// checkMaterials checks that the bill of materials contains each module that the linker recorded, and the standard
// library.
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
		t.Errorf("%s contains no certificate", certificates)
	}
}

// checkStart runs the service with only the files of its image, as the image's user. Without settings, the service must
// name the missing ones.
func checkStart(t *testing.T, root string) {
	t.Helper()
	output, err := newConfinedCommand(t, root, 65532, "/service", "no-such-command").CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("the service ended with %v: %s", err, output)
	}
	if !bytes.Contains(output, []byte("settings: ")) && !bytes.Contains(output, []byte("unknown arguments")) {
		t.Errorf("the output is %q", output)
	}
}

// newConfinedCommand returns a command that runs a program with the unpacked image as its root, as another user. If
// this test is not root, it uses a user namespace.
func newConfinedCommand(t *testing.T, root string, user int, program string, args ...string) *exec.Cmd {
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
