//go:build !race

package images

import (
	"context"
	"debug/elf"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// publishedRelease is a release in a registry on this machine, with the tools that read it.
type publishedRelease struct {
	checkout, registry string
	home               string   // folder of the keys: cosign.pub belongs to the signing key, other.pub to another
	env                []string // with cosign, helm and crane
}

// TestRelease releases this checkout to a temporary registry, compares the result with README.md, and installs it on
// the cluster of KUBECONFIG (`make release-test`).
func TestRelease(t *testing.T) {
	if os.Getenv("SLOTMESH_TEST_RELEASE") == "" {
		t.Skip("make release-test releases to a registry of its own: it builds cosign, which is dear")
	}
	p := publish(t)
	services, err := Services(findCheckout())
	if err != nil {
		t.Fatal(err)
	}
	digests := map[string]string{}
	for _, service := range services {
		t.Run(service, func(t *testing.T) { digests[service] = p.checkImage(t, service) })
	}
	t.Run("chart", func(t *testing.T) { p.checkChart(t, digests) })
	t.Run("install", func(t *testing.T) { p.checkInstall(t, digests) })
	t.Run("other signatures are refused", func(t *testing.T) {
		image := p.registry + "/slotmesh-pricing:9.8.7"
		if output, err := p.run(t, "cosign", "verify", "--key", "other.pub", "--insecure-ignore-tlog=true",
			image); err == nil {
			t.Errorf("cosign takes another key: %s", output)
		}
	})
	t.Run("a version is released once", func(t *testing.T) {
		if output := runRefusedRelease(t, p.checkout, p.env); !strings.Contains(output,
			"no release: v9.8.7 is in "+p.registry+
				" already") {
			t.Errorf("the output is %q", output)
		}
	})
}

// publish releases a copy of this checkout as v9.8.7.
func publish(t *testing.T) publishedRelease {
	t.Helper()
	server := httptest.NewServer(registry.New(registry.WithReferrersSupport(true)))
	t.Cleanup(server.Close)
	p := publishedRelease{checkout: t.TempDir(), registry: strings.TrimPrefix(server.URL, "http://") + "/slotmesh",
		home: t.TempDir()}
	tools := strings.Join(strings.Fields(runIn(t, "../cluster", "tools/build", "crane", "cosign", "helm")), ":")
	p.env = append(os.Environ(), "PATH="+tools+":"+os.Getenv("PATH"), "COSIGN_PASSWORD=a password", "VERSION=v9.8.7",
		"REGISTRY="+p.registry,
		"KEY="+filepath.Join(p.home, "cosign.key"), "BUILDER=https://example.com/builder")
	p.mustRun(t, "cosign", "generate-key-pair")
	p.mustRun(t, "cosign", "generate-key-pair", "--output-key-prefix", "other")

	runIn(
		t,
		findCheckout(),
		"bash",
		"-c",
		`git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$0"`,
		p.checkout,
	)
	edit(t, p.checkout, "CHANGELOG.md", "## Unreleased\n", "## Unreleased\n\n## 9.8.7 - 2026-11-23\n")
	edit(t, p.checkout, "charts/slotmesh/Chart.yaml", "\nversion: ", "\nversion: 9.8.7\n#")
	commitAll(t, p.checkout)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Minute)
	defer cancel()
	release := exec.CommandContext(ctx, "make", "--no-print-directory", "release")
	release.Dir, release.Env, release.WaitDelay = p.checkout, p.env, 10*time.Second
	start := time.Now()
	output, err := release.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	t.Logf("released in %s", time.Since(start).Round(time.Second))
	return p
}

func edit(t *testing.T, root, file, old, text string) {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, file))
	if err != nil || strings.Count(string(content), old) != 1 {
		t.Fatalf("%s has %q %d times, %v", file, old, strings.Count(string(content), old), err)
	}
	writeFile(t, root, file, strings.Replace(string(content), old, text, 1))
}

func (p publishedRelease) run(t *testing.T, command ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "env", command...) // finds the program by the PATH given to it
	cmd.Dir, cmd.Env, cmd.WaitDelay = p.home, p.env, 10*time.Second
	var output strings.Builder
	cmd.Stderr = &output
	out, err := cmd.Output()
	if err != nil {
		return output.String(), err
	}
	return string(out), nil
}

func (p publishedRelease) mustRun(t *testing.T, command ...string) string {
	t.Helper()
	out, err := p.run(t, command...)
	if err != nil {
		t.Fatalf("%s: %v: %s", strings.Join(command, " "), err, out)
	}
	return out
}

// checkImage checks a service's image for both architectures, and returns its digest.
func (p publishedRelease) checkImage(t *testing.T, service string) string {
	t.Helper()
	repository := p.registry + "/slotmesh-" + service
	tag, err := name.NewTag(repository + ":9.8.7")
	if err != nil {
		t.Fatal(err)
	}
	list, err := remote.Index(tag, remote.WithContext(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := list.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	digest, err := list.Digest()
	if err != nil {
		t.Fatal(err)
	}
	p.verify(t, repository+"@"+digest.String())
	p.checkProvenance(t, repository+"@"+digest.String())
	var architectures []string
	for _, each := range manifest.Manifests {
		architectures = append(architectures, each.Platform.OS+"/"+each.Platform.Architecture)
		img, err := list.Image(each.Digest)
		if err != nil {
			t.Fatal(err)
		}
		p.verify(t, repository+"@"+each.Digest.String())
		p.checkContents(t, service, repository+"@"+each.Digest.String(), each.Platform.Architecture, img)
	}
	if want := []string{"linux/amd64", "linux/arm64"}; !slices.Equal(architectures, want) {
		t.Errorf("the image is for %v, want %v", architectures, want)
	}
	return digest.String()
}

func (p publishedRelease) checkContents(t *testing.T, service, ref, arch string, img v1.Image) {
	t.Helper()
	root := unpack(t, img)
	commands := []string{service}
	if service == "console" {
		commands = append(commands, "slotmesh")
	}
	checkFiles(t, commands, img, root)
	checkWeight(t, img)
	config, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	revision := strings.TrimSpace(runIn(t, p.checkout, "git", "rev-parse", "HEAD"))
	labels := config.Config.Labels
	if labels["org.opencontainers.image.version"] != "9.8.7" ||
		labels["org.opencontainers.image.revision"] != revision || config.Architecture != arch {
		t.Errorf("the image for %s is for %s and has the labels %v", arch, config.Architecture, labels)
	}
	var bills []string
	for _, command := range commands {
		program := filepath.Join(root, findCommandPath(service, command))
		checkProgram(t, program)
		checkMachine(t, program, arch)
		checkMaterials(t, program, filepath.Join(root, "sbom", command+".cdx.json"))
		bill, err := os.ReadFile(filepath.Join(root, "sbom", command+".cdx.json"))
		if err != nil {
			t.Fatal(err)
		}
		bills = append(bills, sortJSON(t, bill))
	}
	var attested []string
	for _, s := range p.listStatements(t, ref, "cyclonedx") {
		attested = append(attested, sortJSON(t, s.Predicate))
	}
	slices.Sort(bills)
	slices.Sort(attested)
	if diff := cmp.Diff(bills, attested); diff != "" {
		t.Errorf("bills of materials for %s (-image +attested):\n%s", arch, diff)
	}
	if arch != runtime.GOARCH {
		return
	}
	checkStart(t, root)
	if service == "console" {
		if output, err := newConfinedCommand(t, root, 65532, "/slotmesh", "version").Output(); err != nil ||
			!strings.HasPrefix(string(output), "slotmesh 9.8.7 ") {
			t.Errorf("its command says that it is %q, %v", output, err)
		}
	}
}

func checkMachine(t *testing.T, program, arch string) {
	t.Helper()
	file, err := elf.Open(program)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if want := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[arch]; file.Machine != want {
		t.Errorf("%s is for %s, want %s", program, file.Machine, want)
	}
}

// sortJSON returns JSON with sorted keys.
func sortJSON(t *testing.T, content []byte) string {
	t.Helper()
	var value any
	if err := json.Unmarshal(content, &value); err != nil {
		t.Fatal(err)
	}
	written, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(written)
}

func (p publishedRelease) verify(t *testing.T, ref string) {
	t.Helper()
	output := p.mustRun(t, "cosign", "verify", "--key", "cosign.pub", "--insecure-ignore-tlog=true", ref)
	if !strings.Contains(output, `"https://sigstore.dev/cosign/sign/v1"`) { // cosign also accepts an attestation
		t.Errorf("%s has no signature of its own: %s", ref, output)
	}
}

// inTotoStatement is the content of an attestation.
type inTotoStatement struct {
	Subject []struct {
		Digest map[string]string `json:"digest"`
	} `json:"subject"`
	Predicate json.RawMessage `json:"predicate"`
}

// listStatements returns the statements of one kind that cosign verifies. Each must be about the image that ref names
// by its digest.
func (p publishedRelease) listStatements(t *testing.T, ref, kind string) []inTotoStatement {
	t.Helper()
	out := p.mustRun(t, "cosign", "verify-attestation", "--key", "cosign.pub", "--insecure-ignore-tlog=true", "--type",
		kind, ref)
	_, digest, _ := strings.Cut(ref, "@sha256:")
	var found []inTotoStatement
	for lines := json.NewDecoder(strings.NewReader(out)); lines.More(); {
		var envelope struct {
			Payload string `json:"payload"`
		}
		if err := lines.Decode(&envelope); err != nil {
			t.Fatal(err)
		}
		payload, err := base64.StdEncoding.DecodeString(envelope.Payload)
		if err != nil {
			t.Fatal(err)
		}
		var s inTotoStatement
		if err := json.Unmarshal(payload, &s); err != nil {
			t.Fatal(err)
		}
		if len(s.Subject) != 1 || s.Subject[0].Digest["sha256"] != digest {
			t.Errorf("%s of %s is about %v", kind, ref, s.Subject)
		}
		found = append(found, s)
	}
	return found
}

// checkProvenance checks the only statement about the origin of an image or the chart: this commit, and its builder.
func (p publishedRelease) checkProvenance(t *testing.T, ref string) {
	t.Helper()
	all := p.listStatements(t, ref, "slsaprovenance1")
	if len(all) != 1 {
		t.Fatalf("%s has %d provenances", ref, len(all))
	}
	var provenance struct {
		BuildDefinition struct {
			ResolvedDependencies []struct {
				Digest map[string]string `json:"digest"`
			} `json:"resolvedDependencies"`
		} `json:"buildDefinition"`
		RunDetails struct {
			Builder struct {
				ID string `json:"id"`
			} `json:"builder"`
		} `json:"runDetails"`
	}
	if err := json.Unmarshal(all[0].Predicate, &provenance); err != nil {
		t.Fatal(err)
	}
	revision := strings.TrimSpace(runIn(t, p.checkout, "git", "rev-parse", "HEAD"))
	of := provenance.BuildDefinition.ResolvedDependencies
	if len(of) == 0 || of[0].Digest["gitCommit"] != revision ||
		provenance.RunDetails.Builder.ID != "https://example.com/builder" {
		t.Errorf("the provenance of %s is %s, want commit %s", ref, all[0].Predicate, revision)
	}
}

// checkChart pulls the chart with helm and renders it. The result must name the released images.
func (p publishedRelease) checkChart(t *testing.T, digests map[string]string) {
	t.Helper()
	tag, err := name.NewTag(p.registry + "/charts/slotmesh:9.8.7")
	if err != nil {
		t.Fatal(err)
	}
	sent, err := remote.Head(tag, remote.WithContext(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	ref := p.registry + "/charts/slotmesh@" + sent.Digest.String()
	p.verify(t, ref)
	p.checkProvenance(t, ref)
	p.mustRun(t, "helm", "pull", "oci://"+p.registry+"/charts/slotmesh", "--version", "9.8.7", "--plain-http")
	shape := filepath.Join(p.checkout, "charts/slotmesh/ci/operator-values.yaml")
	rendered := p.mustRun(t, "helm", "template", "slotmesh", "slotmesh-9.8.7.tgz", "--kube-version", "1.34.0",
		"--values",
		shape,
		"--set", "front.enabled=true", "--set", "frontDoor.trustedProxies={10.0.3.0/24}")
	want, got := map[string]bool{}, map[string]bool{}
	for service, digest := range digests {
		want[p.registry+"/slotmesh-"+service+":9.8.7@"+digest] = true
	}
	for _, match := range regexp.MustCompile(`image: "?([^\s"]*slotmesh-[^\s"]*)"?`).FindAllStringSubmatch(rendered,
		-1) {
		got[match[1]] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("images (-sent +rendered: %v):\n%s", slices.Sorted(maps.Keys(got)), diff)
	}
}

// checkInstall installs the chart as README.md describes. The cluster gets everything from the registry.
func (p publishedRelease) checkInstall(t *testing.T, digests map[string]string) {
	t.Helper()
	p.mustRun(t, "helm", "install", "slotmesh", "oci://"+p.registry+"/charts/slotmesh", "--version", "9.8.7",
		"--plain-http",
		"--namespace", "released", "--create-namespace", "--wait", "--timeout", "9m",
		// which are on the node
		"--set", "trial.postgres.image=localhost/postgres:15", "--set", "trial.redis.image=localhost/redis:7")
	p.mustRun(t, "helm", "test", "slotmesh", "--namespace", "released")
	if output := p.mustRun(t, "kubectl", "--namespace", "released", "exec", "deployment/slotmesh-console", "--",
		"/slotmesh",
		"version"); !strings.HasPrefix(output, "slotmesh 9.8.7 ") {
		t.Errorf("the command in the pod says that it is %q", output)
	}
	running := p.mustRun(t, "kubectl", "--namespace", "released", "get", "pods", "--selector",
		"app.kubernetes.io/name=slotmesh", "--output",
		`jsonpath={range .items[*].status.containerStatuses[*]}{.imageID}{"\n"}{end}`)
	got := map[string]bool{}
	for _, image := range strings.Fields(running) {
		if strings.HasPrefix(image, p.registry) {
			got[image] = true
		}
	}
	for service, digest := range digests {
		image := p.registry + "/slotmesh-" + service + "@" + digest
		if optional := service == "front" || service == "operator"; got[image] == optional {
			t.Errorf("%s runs: %t\n%s", image, got[image], running)
		}
	}
}
