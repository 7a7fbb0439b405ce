package media

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/gif"
	"image/png"
	"strings"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

// format is the format of an uploaded file, as in its media type.
type format string

const (
	formatJPEG format = "jpeg"
	formatPNG  format = "png"
	formatGIF  format = "gif"
	formatWebP format = "webp"
	formatAVIF format = "avif"
)

// newDamagedError returns the error for a file that has the format's header, but cannot be decoded.
func (f format) newDamagedError() error {
	return RefusedError("The " + strings.ToUpper(string(f)) + " file is damaged or incomplete.")
}

// Errors for files that are refused because of their header.
const (
	errEmpty         RefusedError = catalog.PictureIsEmpty
	errSVG           RefusedError = catalog.PictureIsSVG
	errHEIC          RefusedError = catalog.PictureIsHEIC
	errAnimatedWebP  RefusedError = "Animated WebP files are not accepted. Save one picture of it as WebP, PNG or JPEG."
	errFormat        RefusedError = catalog.PictureHasOtherFormat
	errTooManyPixels RefusedError = catalog.PictureHasTooManyPixels
	errTooManyScans  RefusedError = "The JPEG file is too complex. Save it again as JPEG."
)

// avifCost is the memory for each pixel of an AVIF file, in bytes.
const avifCost = 16

// header is the data that readHeader finds before it decodes a file.
type header struct {
	format      format
	size        image.Point // the largest size that the file declares for the picture or a part of it
	cost        float64     // bytes of memory per pixel, for the decoded picture and the decoder's own data
	orientation orientation
}

// readHeader returns the header of a file, without decoding pixels. Error: [RefusedError].
func readHeader(file []byte) (header, error) {
	h, err := parseHeader(file)
	switch {
	case err != nil:
		return header{}, err
	case h.size.X < 1 || h.size.Y < 1:
		return header{}, h.format.newDamagedError()
	case h.size.X > maxPixels/h.size.Y, h.cost*float64(h.size.X)*float64(h.size.Y) > maxDecoding:
		return header{}, errTooManyPixels
	}
	return h, nil
}

func parseHeader(file []byte) (header, error) {
	switch {
	case len(file) == 0:
		return header{}, errEmpty
	case bytes.HasPrefix(file, []byte("\xFF\xD8\xFF")):
		return parseJPEG(file)
	case bytes.HasPrefix(file, []byte("\x89PNG\r\n\x1A\n")):
		return parsePNG(file)
	case bytes.HasPrefix(file, []byte("GIF87a")), bytes.HasPrefix(file, []byte("GIF89a")):
		config, err := gif.DecodeConfig(bytes.NewReader(file))
		if err != nil {
			return header{}, formatGIF.newDamagedError()
		}
		return header{format: formatGIF, size: image.Pt(config.Width, config.Height), cost: 2}, nil
	case len(file) >= 12 && string(file[:4]) == "RIFF" && string(file[8:12]) == "WEBP":
		return parseWebP(file)
	case len(file) >= 12 && string(file[4:8]) == "ftyp":
		return parseAVIF(file)
	}
	start := bytes.ToLower(file[:min(len(file), 4<<10)])
	if bytes.Contains(start, []byte("<svg")) || bytes.Contains(start, []byte("<!doctype svg")) {
		return header{}, errSVG
	}
	return header{}, errFormat
}

// parseJPEG reads the segments before the first scan.
func parseJPEG(file []byte) (header, error) {
	h := header{format: formatJPEG}
	if bytes.Count(file, []byte("\xFF\xDA")) > maxScans {
		return header{}, errTooManyScans
	}
	for at := 2; at+4 <= len(file); {
		if file[at] != 0xFF {
			at++ // decoders skip bytes between segments
			continue
		}
		marker := file[at+1]
		if marker == 0xFF || marker == 0 || marker >= 0xD0 && marker <= 0xD8 || marker == 1 {
			at++
			continue
		}
		length := int(binary.BigEndian.Uint16(file[at+2:]))
		end := at + 2 + length
		if length < 2 || end > len(file) {
			break
		}
		content := file[at+4 : end]
		switch {
		case marker == 0xDA || marker == 0xD9:
			return h, nil
		case marker == 0xE1 && bytes.HasPrefix(content, []byte("Exif\x00\x00")):
			h.orientation = readOrientation(content[6:])
		case marker >= 0xC0 && marker <= 0xC2:
			if err := h.readFrame(content, marker == 0xC2); err != nil {
				return header{}, err
			}
		}
		at = end
	}
	return header{}, formatJPEG.newDamagedError()
}

// readFrame reads the frame header of a JPEG: its size, and the memory for its components.
func (h *header) readFrame(content []byte, progressive bool) error {
	if len(content) < 6 || len(content) < 6+3*int(content[5]) || content[5] == 0 || h.size != (image.Point{}) {
		return formatJPEG.newDamagedError()
	}
	h.size = image.Pt(int(binary.BigEndian.Uint16(content[3:])), int(binary.BigEndian.Uint16(content[1:])))
	var samples, maxH, maxV int
	for n := range int(content[5]) {
		sampling := int(content[7+3*n])
		samples += sampling >> 4 * (sampling & 15)
		maxH, maxV = max(maxH, sampling>>4), max(maxV, sampling&15)
	}
	if maxH == 0 || maxV == 0 {
		return formatJPEG.newDamagedError()
	}
	h.cost = float64(samples) / float64(maxH*maxV)
	if progressive {
		h.cost *= 5 // the decoder also keeps a coefficient of four bytes for each sample
	}
	if content[5] == 4 || content[5] == 3 && samples > maxH*maxV+2 {
		h.cost += 4 // the decoder converts the picture to a copy
	}
	return nil
}

// parsePNG reads the header and the orientation of a PNG file.
func parsePNG(file []byte) (header, error) {
	config, err := png.DecodeConfig(bytes.NewReader(file))
	if err != nil || len(file) < 29 {
		return header{}, formatPNG.newDamagedError()
	}
	bits, colour, interlaced := int(file[24]), file[25], file[28] != 0
	channels := map[byte]int{0: 1, 2: 4, 3: 1, 4: 4, 6: 4}[colour]
	h := header{format: formatPNG, size: image.Pt(config.Width, config.Height),
		cost: float64(channels * max(8, bits) / 8)}
	if colour == 0 && bits <= 16 {
		h.cost *= 4 // a transparent grey makes the decoder use four channels
	}
	if interlaced {
		h.cost *= 1.5
	}
	for at := 8; at+12 <= len(file); {
		length := int(binary.BigEndian.Uint32(file[at:]))
		if length > len(file)-at-12 {
			break
		}
		if string(file[at+4:at+8]) == "eXIf" {
			h.orientation = readOrientation(file[at+8 : at+8+length])
		}
		at += 12 + length
	}
	return h, nil
}

// webpCost is the memory for each pixel of a WebP file: a lossless picture and a copy of it for its transformations.
const webpCost = 10

// parseWebP reads the chunks of a WebP file. The picture may be larger than the canvas that the file declares.
func parseWebP(file []byte) (header, error) {
	h := header{format: formatWebP, cost: webpCost}
	declare := func(width, height int) { h.size = image.Pt(max(h.size.X, width), max(h.size.Y, height)) }
	for at := 12; at+8 <= len(file); {
		length := int(binary.LittleEndian.Uint32(file[at+4:]))
		if length > len(file)-at-8 {
			return header{}, formatWebP.newDamagedError()
		}
		content := file[at+8 : at+8+length]
		switch name := string(file[at : at+4]); {
		case name == "VP8X" && length >= 10:
			if content[0]&2 != 0 {
				return header{}, errAnimatedWebP
			}
			declare(1+int(content[4])|int(content[5])<<8|int(content[6])<<16,
				1+int(content[7])|int(content[8])<<8|int(content[9])<<16)
		case name == "VP8 " && length >= 10:
			declare(int(binary.LittleEndian.Uint16(content[6:]))&0x3FFF,
				int(binary.LittleEndian.Uint16(content[8:]))&0x3FFF)
		case name == "VP8L" && length >= 5:
			bits := binary.LittleEndian.Uint32(content[1:])
			declare(1+int(bits&0x3FFF), 1+int(bits>>14&0x3FFF))
		case name == "EXIF":
			h.orientation = readOrientation(bytes.TrimPrefix(content, []byte("Exif\x00\x00")))
		}
		at += 8 + length + length&1
	}
	return h, nil
}

// parseAVIF reads the boxes of an AVIF file.
func parseAVIF(file []byte) (header, error) {
	h := header{format: formatAVIF, cost: avifCost}
	brands := string(box(file, "ftyp"))
	if !strings.Contains(brands, "avif") && !strings.Contains(brands, "avis") {
		for _, brand := range []string{"heic", "heix", "heif", "mif1", "hevc", "msf1"} {
			if strings.Contains(brands, brand) {
				return header{}, errHEIC
			}
		}
		return header{}, errFormat
	}
	meta := box(file, "meta")
	if len(meta) < 4 {
		return header{}, formatAVIF.newDamagedError()
	}
	var turns, mirror int
	eachBox(box(box(meta[4:], "iprp"), "ipco"), func(name string, content []byte) {
		switch {
		case name == "ispe" && len(content) >= 12:
			width, height := binary.BigEndian.Uint32(content[4:]), binary.BigEndian.Uint32(content[8:])
			h.size = image.Pt(max(h.size.X, int(width)), max(h.size.Y, int(height)))
		case name == "irot" && len(content) >= 1:
			turns = int(content[0] & 3)
		case name == "imir" && len(content) >= 1:
			mirror = 1 + int(content[0]&1)
		}
	})
	h.orientation = heifOrientation(turns, mirror)
	return h, nil
}

// box returns the content of the first box with the given name, or nil if there is no such box.
func box(of []byte, name string) []byte {
	var found []byte
	eachBox(of, func(n string, content []byte) {
		if n == name && found == nil {
			found = content
		}
	})
	return found
}

// eachBox calls `visit` with the name and the content of each box.
func eachBox(of []byte, visit func(name string, content []byte)) {
	for len(of) >= 8 {
		length, start := uint64(binary.BigEndian.Uint32(of)), uint64(8)
		switch {
		case length == 1 && len(of) >= 16:
			length, start = binary.BigEndian.Uint64(of[8:]), 16
		case length == 0:
			length = uint64(len(of))
		}
		if length < start || length > uint64(len(of)) {
			return
		}
		visit(string(of[4:8]), of[start:length])
		of = of[length:]
	}
}
