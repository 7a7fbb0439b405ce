package chart_test

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/Masterminds/semver/v3"
)

// heading matches the heading of a released version. The newest version comes first, after the unreleased changes.
var heading = regexp.MustCompile(`(?m)^##+ (\d\S*)(?: - (\d{4}-\d\d-\d\d))?$`)

// TestChangesNameChartVersion compares CHANGELOG.md, UPGRADING.md and the chart. The newest version with changes is
// that of the chart, and each version has a section in UPGRADING.md. Before the first release, the chart has the
// version that it will have.
func TestChangesNameChartVersion(t *testing.T) {
	t.Parallel()
	changes, upgrading := string(readFile(t, filepath.Join(root, "CHANGELOG.md"))),
		string(readFile(t, filepath.Join(root, "UPGRADING.md")))
	metadata := loadChart(t).Metadata
	for _, fault := range findFaults(changes, upgrading, metadata.Version, metadata.AppVersion) {
		t.Error(fault)
	}
}

func findFaults(changes, upgrading, version, app string) []string {
	var found []string
	if app != "dev" {
		found = append(found, "Chart.yaml's appVersion is "+app+
			": leave it dev, a release sets it in the chart that it sends")
	}
	first, _, _ := strings.Cut(strings.SplitN(changes, "\n## ", 2)[1], "\n")
	if first != "Unreleased" {
		found = append(found, "CHANGELOG.md begins with "+first+": begin with Unreleased")
	}
	versions := heading.FindAllStringSubmatch(changes, -1)
	if len(versions) > 0 && versions[0][1] != version {
		found = append(found, "CHANGELOG.md's newest version is "+versions[0][1]+", Chart.yaml's "+version)
	}
	reported := map[string]bool{}
	for _, match := range heading.FindAllStringSubmatch(upgrading, -1) {
		reported[match[1]] = true
	}
	var newer *semver.Version
	for _, match := range versions {
		parsed, err := semver.StrictNewVersion(match[1])
		switch {
		case err != nil:
			found = append(found, "CHANGELOG.md: "+match[1]+" is no version of Semantic Versioning")
			continue
		case match[2] == "":
			found = append(found, "CHANGELOG.md: "+match[1]+" has no date")
		case newer != nil && !parsed.LessThan(newer):
			found = append(found, "CHANGELOG.md: "+match[1]+" stands below "+newer.String())
		}
		if !reported[match[1]] {
			found = append(found, "UPGRADING.md says nothing of "+match[1]+
				": say that it asks for nothing, where it does")
		}
		delete(reported, match[1])
		newer = parsed
	}
	for version := range reported {
		found = append(found, "UPGRADING.md describes "+version+", which CHANGELOG.md does not contain")
	}
	return found
}

func TestFindFaultsReportsEachFault(t *testing.T) {
	t.Parallel()
	const good, upgrading = "# Changes\n\n## Unreleased\n\n## 0.2.0 - 2026-12-01\n\n## 0.1.0 - 2026-11-23\n",
		"### 0.2.0\n\n### 0.1.0\n"
	if got := findFaults(good, upgrading, "0.2.0", "dev"); len(got) > 0 {
		t.Errorf("good files are refused: %q", got)
	}
	for _, c := range []struct{ changes, upgrading, version, app, want string }{
		{good, upgrading, "0.3.0", "dev", "newest version is 0.2.0"},
		{good, upgrading, "0.2.0", "0.2.0", "appVersion is 0.2.0"},
		{good, "### 0.2.0\n", "0.2.0", "dev", "UPGRADING.md says nothing of 0.1.0"},
		{good, upgrading + "### 0.0.9\n", "0.2.0", "dev", "describes 0.0.9"},
		{strings.Replace(good, " - 2026-11-23", "", 1), upgrading, "0.2.0", "dev", "0.1.0 has no date"},
		{strings.Replace(good, "## Unreleased\n\n", "", 1), upgrading, "0.2.0", "dev", "begin with Unreleased"},
		{strings.Replace(good, "0.1.0", "0.3.0", 1), "### 0.2.0\n### 0.3.0\n", "0.2.0", "dev",
			"0.3.0 stands below 0.2.0"},
		{strings.Replace(good, "0.1.0", "0.01.0", 1), upgrading, "0.2.0", "dev", "0.01.0 is no version"},
	} {
		if got := strings.Join(findFaults(c.changes, c.upgrading, c.version, c.app), "\n"); !strings.Contains(got,
			c.want) {
			t.Errorf("want a sentence with %q, got %q", c.want, got)
		}
	}
}
