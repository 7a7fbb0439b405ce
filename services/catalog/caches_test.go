package catalog

import (
	"strings"
	"testing"

	"github.com/slotmesh/slotmesh/libs/testkit"
)

// These scripts read a URL twice through a cache. They print the status, the media type and the text of the second
// answer.
const (
	cacheControlScript = `
import sys, requests, cachecontrol
session = cachecontrol.CacheControl(requests.Session())
session.get(sys.argv[1])
answer = session.get(sys.argv[1])
print(answer.status_code, answer.headers["Content-Type"], answer.text, sep="\n")
`
	requestsCacheScript = `
import sys, requests_cache
session = requests_cache.CachedSession(backend="memory", cache_control=True)
session.get(sys.argv[1])
answer = session.get(sys.argv[1])
print(answer.status_code, answer.headers["Content-Type"], answer.text, sep="\n")
`
	gotScript = `
const {default: got} = require('got')
const url = require('fs').readFileSync(0, 'utf8'), cache = new Map()
const read = () => got(url, {cache, retry: {limit: 0}})
read().then(read).then(a => console.log([a.statusCode, a.headers['content-type'], a.body].join('\n')))
`
	makeFetchHappenScript = `
const fetch = require('make-fetch-happen').defaults({cachePath: './cache', retry: false})
const url = require('fs').readFileSync(0, 'utf8')
const read = async () => { const a = await fetch(url); return [a.status, a.headers.get('content-type'), await a.text()].join('\n') }
read().then(read).then(text => console.log(text))
`
)

// TestClientCachesKeepMediaTypeAfter304 shows that the second answer of each cache has the media type of the first. A
// cache updates its stored header with the header of an answer 304.
func TestClientCachesKeepMediaTypeAfter304(t *testing.T) {
	t.Parallel()
	h := newHarness(t)
	h.mustPublish(harborYAML)
	python := testkit.InstallPython(t, "CacheControl==0.14.4", "requests-cache==1.3.3")
	node := testkit.InstallNode(t, "got@16.1.0", "make-fetch-happen@16.0.1")
	pythonRun := func(script string) func(url string) testkit.ToolRun {
		return func(url string) testkit.ToolRun { return python.Python(t, t.TempDir(), nil, "-c", script, url) }
	}
	nodeRun := func(script string) func(url string) testkit.ToolRun {
		return func(url string) testkit.ToolRun { return node.Script(t, script, []byte(url)) }
	}
	for name, read := range map[string]func(url string) testkit.ToolRun{
		"CacheControl":      pythonRun(cacheControlScript),
		"requests-cache":    pythonRun(requestsCacheScript),
		"got":               nodeRun(gotScript),
		"make-fetch-happen": nodeRun(makeFetchHappenScript),
	} {
		for _, path := range []string{"/api/public/harbor/info", "/api/public/openapi.json"} {
			first := h.call("GET", h.public+path, nil)
			run := read(h.public + path)
			lines := strings.SplitN(run.Stdout, "\n", 3)
			if run.Exit != 0 || len(lines) != 3 {
				t.Errorf("%s: exit %d: %s%s", name, run.Exit, run.Stdout, run.Stderr)
				continue
			}
			if lines[0] != "200" || lines[1] != "application/json" ||
				strings.TrimSpace(lines[2]) != strings.TrimSpace(first.body) {
				t.Errorf("%s reads %s as %s %s, %d bytes", name, path, lines[0], lines[1], len(lines[2]))
			}
		}
	}
}
