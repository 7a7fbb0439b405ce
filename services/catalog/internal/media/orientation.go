package media

import (
	"encoding/binary"
	"image"
)

// orientation is the orientation of a picture as Exif numbers it, from 1
// (upright) to 8. It determines how the stored pixels are shown. 0 means 1.
type orientation int

// readOrientation returns the orientation of Exif data that begins with the TIFF header. Invalid data is upright.
func readOrientation(exif []byte) orientation {
	if len(exif) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.BigEndian
	if exif[0] == 'I' {
		order = binary.LittleEndian
	}
	at := uint64(order.Uint32(exif[4:]))
	if at+2 > uint64(len(exif)) {
		return 1
	}
	entries := exif[at+2:]
	for range order.Uint16(exif[at:]) {
		if len(entries) < 12 {
			break
		}
		if order.Uint16(entries) == 0x0112 {
			if o := orientation(order.Uint16(entries[8:])); o >= 1 && o <= 8 {
				return o
			}
		}
		entries = entries[12:]
	}
	return 1
}

// heifOrientation returns the Exif orientation of a HEIF picture. The picture is first turned
// counter-clockwise by `turns` quarter turns, and then mirrored. If `mirror` is 1, top and bottom
// are exchanged. If it is 2, left and right are exchanged. If it is 0, the picture is not mirrored.
func heifOrientation(turns, mirror int) orientation {
	return [3][4]orientation{{1, 8, 3, 6}, {4, 5, 2, 7}, {2, 7, 4, 5}}[mirror][turns]
}

// isTurned reports whether the orientation exchanges width and height.
func (o orientation) isTurned() bool { return o >= 5 }

// sizeOf returns the size that a picture of the given size has after it is turned upright.
func (o orientation) sizeOf(size image.Point) image.Point {
	if o.isTurned() {
		return image.Pt(size.Y, size.X)
	}
	return size
}

// apply returns the upright picture.
func (o orientation) apply(picture *image.RGBA) *image.RGBA {
	if o <= 1 {
		return picture
	}
	size := picture.Bounds().Size()
	upright := image.NewRGBA(image.Rectangle{Max: o.sizeOf(size)})
	for y := range size.Y {
		for x := range size.X {
			toX, toY := x, y
			if o == 2 || o == 3 || o == 7 || o == 8 {
				toX = size.X - 1 - x
			}
			if o == 3 || o == 4 || o == 6 || o == 7 {
				toY = size.Y - 1 - y
			}
			if o.isTurned() {
				toX, toY = toY, toX
			}
			copy(upright.Pix[upright.PixOffset(toX, toY):][:4], picture.Pix[picture.PixOffset(x, y):][:4])
		}
	}
	return upright
}
