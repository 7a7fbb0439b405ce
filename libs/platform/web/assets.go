package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"mime"
	"path"
	"strings"

	"github.com/gofiber/fiber/v2"

	"github.com/slotmesh/slotmesh/libs/values/fault"
)

// Assets are the static files of web pages. The URL of a file contains a
// hash of its content, so that browsers can cache the file permanently.
type Assets struct {
	prefix string            // prefix of the URL paths, such as /assets
	names  map[string]string // file name → name with hash
	byName map[string]*asset
}

type asset struct {
	kind           string
	plain, gzipped []byte
}

// NewAssets reads the files in the folder dist, which `make generate` creates. The argument `at` is the prefix of the
// files' URL paths.
func NewAssets(files fs.FS, at string) (*Assets, error) {
	a := &Assets{prefix: at, names: map[string]string{}, byName: map[string]*asset{}}
	entries, err := fs.ReadDir(files, "dist")
	if err != nil {
		return nil, err
	}
	for _, entry := range entries {
		content, err := fs.ReadFile(files, path.Join("dist", entry.Name()))
		if err != nil {
			return nil, err
		}
		if err := a.add(entry.Name(), content); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func (a *Assets) add(name string, content []byte) error {
	var small bytes.Buffer
	w, err := gzip.NewWriterLevel(&small, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write(content); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	ext := path.Ext(name)
	a.names[name] = strings.TrimSuffix(name, ext) + "-" + hex.EncodeToString(sum[:6]) + ext
	a.byName[a.names[name]] = &asset{mime.TypeByExtension(ext), content, small.Bytes()}
	return nil
}

// Path returns the URL path of a file, or "" if the file does not exist.
func (a *Assets) Path(name string) string {
	if a.names[name] == "" {
		return ""
	}
	return a.prefix + "/" + a.names[name]
}

// Mount adds the route for the files.
func (a *Assets) Mount(router fiber.Router) { router.Get(a.prefix+"/:name", a.serve) }

// cacheForever is the Cache-Control of files with a hash in their name. One year is the longest time that caches use.
const cacheForever = "public, max-age=31536000, immutable"

// cacheForMinutes is the Cache-Control of a script that other sites embed. These
// sites use a URL without a hash, so browsers must soon notice a new version.
const cacheForMinutes = "public, max-age=600"

func (a *Assets) serve(c *fiber.Ctx) error {
	return sendAsset(c, a.byName[c.Params("name")], cacheForever)
}

// ServeCrossOrigin returns a handler that sends a file to pages
// of other sites. The URL of the file does not contain a hash.
func (a *Assets) ServeCrossOrigin(name string) fiber.Handler {
	return func(c *fiber.Ctx) error {
		c.Set("Cross-Origin-Resource-Policy", "cross-origin")
		c.Set(fiber.HeaderAccessControlAllowOrigin, "*")
		return sendAsset(c, a.byName[a.names[name]], cacheForMinutes)
	}
}

func sendAsset(c *fiber.Ctx, found *asset, keep string) error {
	if found == nil {
		return fault.New(fault.NotFound, "There is nothing at this path.")
	}
	c.Set(fiber.HeaderContentType, found.kind)
	c.Set(fiber.HeaderCacheControl, keep)
	c.Set(fiber.HeaderVary, fiber.HeaderAcceptEncoding)
	if c.AcceptsEncodings("gzip") == "gzip" {
		c.Set(fiber.HeaderContentEncoding, "gzip")
		return c.Send(found.gzipped)
	}
	return c.Send(found.plain)
}
