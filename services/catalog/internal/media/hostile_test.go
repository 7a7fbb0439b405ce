package media

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/image/webp"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
	"github.com/slotmesh/slotmesh/services/catalog/internal/media/codec"
)

// secret is in the metadata and in the foreign parts of the hostile files. No result may contain it.
const secret = "<script>secret 38.7223N</script>"

// painted returns a picture with many colours.
func painted(width, height int) *image.NRGBA {
	picture := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			picture.SetNRGBA(x, y, color.NRGBA{uint8(x * 5), uint8(y * 7), uint8(x * y), 255})
		}
	}
	return picture
}

// samples returns one valid file of each format.
func samples(t *testing.T) map[format][]byte {
	t.Helper()
	picture := painted(61, 43)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var asJPEG, asPNG, asGIF bytes.Buffer
	must(jpeg.Encode(&asJPEG, picture, nil))
	must(png.Encode(&asPNG, picture))
	must(gif.Encode(&asGIF, picture, nil))
	asWebP, err := codec.EncodeWebP(t.Context(), picture, 80)
	must(err)
	asAVIF, err := os.ReadFile("codec/testdata/8bit.avif")
	must(err)
	return map[format][]byte{formatJPEG: asJPEG.Bytes(), formatPNG: asPNG.Bytes(), formatGIF: asGIF.Bytes(),
		formatWebP: asWebP, formatAVIF: asAVIF}
}

// exif returns Exif data with an orientation and a place.
func exif(orientation uint16) []byte {
	data := []byte("II*\x00\x08\x00\x00\x00\x02\x00\x12\x01\x03\x00\x01\x00\x00\x00")
	data = binary.LittleEndian.AppendUint16(data, orientation)
	data = append(data, "\x00\x00\x25\x88\x04\x00\x01\x00\x00\x00\x26\x00\x00\x00\x00\x00\x00\x00"...)
	return append(data, secret...)
}

func segment(marker byte, content []byte) []byte {
	return append(binary.BigEndian.AppendUint16([]byte{0xFF, marker}, uint16(len(content)+2)), content...)
}

func pngChunk(name string, content []byte) []byte {
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(content)))
	chunk = append(append(chunk, name...), content...)
	return binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:]))
}

func webpChunk(name string, content []byte) []byte {
	chunk := binary.LittleEndian.AppendUint32([]byte(name), uint32(len(content)))
	return append(append(chunk, content...), make([]byte, len(content)&1)...)
}

// webpFile returns a WebP file with a canvas and the given chunks.
func webpFile(flags byte, width, height int, chunks ...[]byte) []byte {
	canvas := []byte{flags, 0, 0, 0, byte(width - 1), byte((width - 1) >> 8), 0, byte(height - 1), byte((height - 1) >> 8), 0}
	content := append([]byte("WEBP"), webpChunk("VP8X", canvas)...)
	for _, chunk := range chunks {
		content = append(content, chunk...)
	}
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(content))), content...)
}

func splice(file []byte, at int, insert ...[]byte) []byte {
	out := bytes.Clone(file[:at])
	for _, part := range insert {
		out = append(out, part...)
	}
	return append(out, file[at:]...)
}

func patched(file []byte, at int, with ...byte) []byte {
	out := bytes.Clone(file)
	copy(out[at:], with)
	return out
}

// withMetadata returns the samples with metadata that contains the secret, of an orientation.
func withMetadata(samples map[format][]byte, orientation uint16) map[format][]byte {
	j, p, w := samples[formatJPEG], samples[formatPNG], samples[formatWebP]
	return map[format][]byte{
		formatJPEG: splice(j, 2, segment(0xE1, append([]byte("Exif\x00\x00"), exif(orientation)...)),
			segment(0xE1, []byte("http://ns.adobe.com/xap/1.0/\x00"+secret)), segment(0xFE, []byte(secret))),
		formatPNG: splice(p, 33, pngChunk("eXIf", exif(orientation)), pngChunk("tEXt", []byte("Comment\x00"+secret))),
		formatGIF: splice(samples[formatGIF], bytes.IndexByte(samples[formatGIF][13+3*256:], ',')+13+3*256,
			[]byte("\x21\xFE"+string(rune(len(secret)))+secret+"\x00")),
		formatWebP: webpFile(0x0C, 61, 43, w[12:], webpChunk("EXIF", exif(orientation)), webpChunk("XMP ", []byte(secret))),
	}
}

// hostile returns files that must be refused or made harmless, by name.
func hostile(t *testing.T) map[string][]byte {
	t.Helper()
	all, files := samples(t), map[string][]byte{}
	random := rand.New(rand.NewPCG(1, 2))
	for format, file := range all {
		variants := 16
		if format == formatAVIF {
			variants = 5 // the sample is large, and so each takes long
		}
		for n := range variants {
			files[fmt.Sprintf("%s cut to %d/16", format, n)] = file[:len(file)*n/16]
			files[fmt.Sprintf("%s cut by %d", format, n+1)] = file[:len(file)-n-1]
			damaged := bytes.Clone(file)
			for range 1 + n {
				damaged[random.IntN(len(damaged))] = byte(random.Uint32())
			}
			files[fmt.Sprintf("%s damaged %d", format, n)] = damaged
		}
		files[string(format)+" with a page after it"] = append(bytes.Clone(file), "<html>"+secret...)
		files[string(format)+" with an archive after it"] = append(bytes.Clone(file), "PK\x03\x04"+secret...)
		files[string(format)+" with a page before it"] = append([]byte("<html>"+secret), file...)
	}
	for format, file := range withMetadata(all, 6) {
		files[string(format)+" with a place"] = file
	}
	for name, text := range map[string]string{
		"svg":               "<svg xmlns='http://www.w3.org/2000/svg'>" + secret + "</svg>",
		"svg with a prolog": "<?xml version='1.0'?>\n<!-- a -->\n<!DOCTYPE svg PUBLIC>\n<svg>" + secret,
		"html":              "<!doctype html>" + secret, "pdf": "%PDF-1.7 " + secret, "zip": "PK\x03\x04", "program": "\x7FELF" + secret,
		"empty": "", "text": secret, "heic": "\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic" + secret,
		"mp4": "\x00\x00\x00\x18ftypisom\x00\x00\x00\x00isomiso2", "bmp": "BM" + secret, "tiff": "II*\x00" + secret,
	} {
		files[name] = []byte(text)
	}
	for name, file := range bombs(t, all) {
		files[name] = file
	}
	return files
}

// bombs returns files that are small and would need much memory or time.
func bombs(t *testing.T, all map[format][]byte) map[string][]byte {
	t.Helper()
	j, p, g, w, a := all[formatJPEG], all[formatPNG], all[formatGIF], all[formatWebP], all[formatAVIF]
	frame := bytes.Index(j, []byte{0xFF, 0xC0})
	scan := bytes.Index(j, []byte{0xFF, 0xDA})
	ispe := bytes.Index(a, []byte("ispe"))
	const px = 50_000
	wide := func(header []byte) []byte { // the header of a PNG with another size
		header = bytes.Clone(header)
		binary.BigEndian.PutUint32(header[16:], px)
		binary.BigEndian.PutUint32(header[20:], px)
		binary.BigEndian.PutUint32(header[29:], crc32.ChecksumIEEE(header[12:29]))
		return header
	}
	var zeros bytes.Buffer
	compressor := zlib.NewWriter(&zeros)
	for range 64 {
		if _, err := compressor.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := compressor.Close(); err != nil {
		t.Fatal(err)
	}
	moving := &gif.GIF{}
	for n := range 1000 {
		frame := image.NewPaletted(image.Rect(0, 0, 20, 20), color.Palette{color.White, color.Black})
		frame.Pix[n%400] = 1
		moving.Image, moving.Delay = append(moving.Image, frame), append(moving.Delay, 1)
	}
	var asGIF bytes.Buffer
	if err := gif.EncodeAll(&asGIF, moving); err != nil {
		t.Fatal(err)
	}
	scans := bytes.Repeat(segment(0xDA, []byte{1, 1, 0, 0, 63, 0}), 5000)
	return map[string][]byte{
		"jpeg of 50,000 px":              patched(j, frame+5, px>>8, px&255, px>>8, px&255),
		"progressive jpeg of 40 MP":      patched(j, frame, 0xFF, 0xC2, 0, 17, 8, 6500>>8, 6500&255, 6500>>8, 6500&255),
		"jpeg of 5000 scans":             splice(j, scan, scans),
		"jpeg of no height":              patched(j, frame+5, 0, 0),
		"jpeg of two frames":             splice(j, frame, j[frame:frame+19]),
		"png of 50,000 px":               splice(wide(p[:33]), 33, p[33:]),
		"png with too many pixels":       splice(p, 33, pngChunk("IDAT", zeros.Bytes())),
		"png with a compressed text":     splice(p, 33, pngChunk("zTXt", append([]byte("a\x00\x00"), zeros.Bytes()...))),
		"png with a compressed profile":  splice(p, 33, pngChunk("iCCP", append([]byte("a\x00\x00"), zeros.Bytes()...))),
		"png with 10,000 chunks":         splice(p, 33, bytes.Repeat(pngChunk("tEXt", []byte(secret)), 10_000)),
		"png of a wrong length":          patched(p, 33, 0xFF, 0xFF, 0xFF, 0xFF),
		"gif of 50,000 px":               patched(g, 6, px&255, px>>8, px&255, px>>8),
		"gif of a thousand frames":       asGIF.Bytes(),
		"gif with 50,000 comments":       splice(g, 13+3*256, bytes.Repeat([]byte("\x21\xFE\x01a\x00"), 50_000)),
		"webp with a larger picture":     webpFile(0, 10, 10, webpChunk("VP8 ", patched(w[20:], 6, 0xFF, 0x3F, 0xFF, 0x3F))),
		"lossless webp of 16,384 px":     webpFile(0, 10, 10, webpChunk("VP8L", []byte("\x2F\xFF\xFF\xFF\x0F\x00\x00"))),
		"webp of a large canvas":         webpFile(0, 65536, 65536, w[12:]),
		"animated webp":                  webpFile(2, 61, 43, webpChunk("ANIM", make([]byte, 6))),
		"webp of a wrong length":         patched(w, 16, 0xFF, 0xFF, 0xFF, 0xFF),
		"avif of 50,000 px":              patched(a, ispe+8, 0, 0, px>>8, px&255, 0, 0, px>>8, px&255),
		"avif that hides its size":       patched(a, ispe+8, 0, 0, 0, 4, 0, 0, 0, 4),
		"avif of a wrong length":         patched(a, bytes.Index(a, []byte("meta"))-4, 0xFF, 0xFF, 0xFF, 0xFF),
		"more than 10 MB":                append(bytes.Clone(j), make([]byte, MaxBytes)...),
		"jpeg of 10 MB with a long tail": append(bytes.Clone(j), make([]byte, MaxBytes-len(j))...),
	}
}

// Each hostile file is refused with a sentence, or its picture contains only pixels; memory stays bounded.
func TestProcessHostileFiles(t *testing.T) {
	files := hostile(t)
	if len(files) < 200 {
		t.Fatalf("only %d files", len(files))
	}
	processor, refused := NewProcessor(), 0
	for name, file := range files {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		picture, err := processor.Process(t.Context(), bytes.NewReader(file))
		runtime.ReadMemStats(&after)
		// Reading the file takes a few times its size, and a picture of the samples' size much less than 48 MiB.
		if used := after.TotalAlloc - before.TotalAlloc; used > 48<<20+8*uint64(len(file)) {
			t.Errorf("%s: allocated %d MiB", name, used>>20)
		}
		var sentence RefusedError
		switch {
		case errors.As(err, &sentence):
			refused++
			if len(sentence) < 15 || !strings.HasSuffix(string(sentence), ".") {
				t.Errorf("%s: refused with %q", name, sentence)
			}
		case err != nil:
			t.Errorf("%s: %v", name, err)
		default:
			checkHarmless(t, name, picture)
		}
	}
	if refused < 50 || refused > len(files)-20 {
		t.Errorf("%d of %d files are refused", refused, len(files))
	}
}

// checkHarmless checks that the files of a picture are complete, bounded, and without metadata.
func checkHarmless(t *testing.T, name string, picture Picture) {
	t.Helper()
	for n, f := range picture.Files {
		if f.Width != catalog.PictureWidths[n] {
			t.Errorf("%s: file %d has the width %d", name, n, f.Width)
		}
		fromWebP, err := webp.Decode(bytes.NewReader(f.WebP))
		if err != nil {
			t.Errorf("%s: the WebP file does not decode: %v", name, err)
			continue
		}
		fromJPEG, err := jpeg.Decode(bytes.NewReader(f.JPEG))
		if err != nil {
			t.Errorf("%s: the JPEG file does not decode: %v", name, err)
			continue
		}
		size := fromWebP.Bounds().Size()
		if fromJPEG.Bounds().Size() != size || size.X > f.Width || size.Y > 2*f.Width || size.X > picture.Width {
			t.Errorf("%s: sizes %v and %v for the width %d", name, size, fromJPEG.Bounds().Size(), f.Width)
		}
		if len(f.WebP) > 4<<20 || len(f.JPEG) > 4<<20 {
			t.Errorf("%s: files of %d and %d bytes", name, len(f.WebP), len(f.JPEG))
		}
		for _, b := range [][]byte{f.WebP, f.JPEG} {
			if bytes.Contains(b, []byte("script")) || bytes.Contains(b, []byte("Exif")) {
				t.Errorf("%s: the metadata is still there", name)
			}
		}
		if bytes.Contains(f.WebP, []byte("EXIF")) || bytes.Contains(f.WebP, []byte("XMP ")) {
			t.Errorf("%s: the WebP file has metadata", name)
		}
		// The encoder writes the tables right after the start, without a segment of an application.
		if !bytes.HasPrefix(f.JPEG, []byte("\xFF\xD8\xFF\xDB")) {
			t.Errorf("%s: the JPEG file begins with % x", name, f.JPEG[:8])
		}
	}
}
