package images

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDockerfileMatchesServiceConfig compares the last stage of the Dockerfile with the configuration of our images. It
// only reads the Dockerfile, because the tests have no container engine.
func TestDockerfileMatchesServiceConfig(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	joined := strings.ReplaceAll(string(text), "\\\n", "")
	build, last, found := strings.Cut(joined, "FROM scratch\n")
	if !found {
		t.Fatal("the last stage of the Dockerfile does not begin with FROM scratch")
	}
	want := newServiceConfig(Source{Version: "${VERSION}", Revision: "${REVISION}"}, "${SERVICE}")
	want.Labels["org.opencontainers.image.created"] = "${CREATED}"

	var entrypoint []string
	if err := json.Unmarshal([]byte(findInstruction(t, last, "ENTRYPOINT")), &entrypoint); err != nil {
		t.Fatal(err)
	}
	got := newServiceConfig(Source{}, "")
	got.Entrypoint = entrypoint
	got.User = findInstruction(t, last, "USER")
	got.WorkingDir = findInstruction(t, last, "WORKDIR")
	got.Env = strings.Fields(findInstruction(t, last, "ENV"))
	got.Labels = map[string]string{}
	for _, pair := range regexp.MustCompile(`(\S+)="([^"]*)"`).FindAllStringSubmatch(findInstruction(t, last, "LABEL"),
		-1) {
		got.Labels[pair[1]] = pair[2]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the Dockerfile differs from `make images` (-make +Dockerfile):\n%s", diff)
	}
	if flags := "go " + strings.Join(listBuildArgs("/image/", "${VERSION}", "./cmd/..."),
		" "); !strings.Contains(strings.ReplaceAll(build, `"`, ""), flags) {
		t.Errorf("the Dockerfile does not build by %q", flags)
	}
}

// findInstruction returns the arguments of the only line that begins with word.
func findInstruction(t *testing.T, stage, word string) string {
	t.Helper()
	lines := regexp.MustCompile(`(?m)^`+word+` (.*)$`).FindAllStringSubmatch(stage, -1)
	if len(lines) != 1 {
		t.Fatalf("the last stage has %d lines %s", len(lines), word)
	}
	return lines[0][1]
}
