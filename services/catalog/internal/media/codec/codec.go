// Package codec encodes WebP pictures and decodes AVIF pictures with C libraries
// that are compiled to WebAssembly. The README lists the libraries and their sources.
//
// Each call runs in a new instance with a memory of its own, which is bounded and outside of Go's
// heap. An instance stops when the context of the call ends, and it cannot reach files or the network.
package codec

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

// MaxMemory is the maximum memory of one instance, in bytes.
const MaxMemory = 256 << 20

// pageSize is the size of a page of WebAssembly memory, in bytes.
const pageSize = 64 << 10

var (
	// ErrInvalid reports that the codec refused its input. A damaged
	// picture and one that needs more than MaxMemory have this error.
	ErrInvalid = errors.New("the codec refused the picture")
	// ErrTooLarge reports that a picture has more pixels than the caller allows.
	ErrTooLarge = errors.New("the picture has too many pixels")
)

//go:embed webp.wasm.gz
var webpModule []byte

//go:embed avif.wasm.gz
var avifModule []byte

// module is a WebAssembly module that is compiled at its first use.
type module struct {
	compile func() (*compiled, error)
}

// compiled is a module that is ready to run.
type compiled struct {
	runtime wazero.Runtime
	code    wazero.CompiledModule
}

var (
	libwebp = module{sync.OnceValues(func() (*compiled, error) { return compile(webpModule) })}
	libavif = module{sync.OnceValues(func() (*compiled, error) { return compile(avifModule) })}
)

func compile(zipped []byte) (*compiled, error) {
	ctx := context.Background()
	unzipped, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		return nil, fmt.Errorf("read a codec: %w", err)
	}
	binary, err := io.ReadAll(unzipped)
	if err != nil {
		return nil, fmt.Errorf("read a codec: %w", err)
	}
	runtime := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfig().
		WithMemoryLimitPages(MaxMemory/pageSize).WithCloseOnContextDone(true))
	if _, err := wasi_snapshot_preview1.Instantiate(ctx, runtime); err != nil {
		return nil, fmt.Errorf("compile a codec: %w", err)
	}
	code, err := runtime.CompileModule(ctx, binary)
	if err != nil {
		return nil, fmt.Errorf("compile a codec: %w", err)
	}
	return &compiled{runtime, code}, nil
}

// instance is a running module. The field `err` holds the first
// error of a call. After an error, later calls do nothing.
type instance struct {
	module api.Module
	err    error
}

// run calls `work` with a new instance of m, and returns the first error of the instance. If
// the codec aborts a call, the error is [ErrInvalid]. If ctx ends, it is the error of ctx.
func (m module) run(ctx context.Context, work func(*instance)) error {
	code, err := m.compile()
	if err != nil {
		return err
	}
	own := &memory{}
	withMemory := experimental.WithMemoryAllocator(ctx,
		experimental.MemoryAllocatorFunc(func(uint64, uint64) experimental.LinearMemory { return own }))
	// If ctx ends an instance just as a call finishes, wazero does not free the memory of the instance.
	defer own.Free()
	running, err := code.runtime.InstantiateModule(withMemory, code.code, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		return fmt.Errorf("start a codec: %w", err)
	}
	i := &instance{module: running}
	defer func() { _ = running.Close(context.WithoutCancel(ctx)) }() // nothing in an instance can fail to close
	work(i)
	if i.err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return i.err
}

// call calls an exported function and returns its result.
func (i *instance) call(ctx context.Context, name string, arguments ...uint64) uint64 {
	if i.err != nil {
		return 0
	}
	results, err := i.module.ExportedFunction(name).Call(ctx, arguments...)
	if err != nil {
		i.err = fmt.Errorf("%w: %w", ErrInvalid, err)
		return 0
	}
	return results[0]
}

// alloc returns the address of `size` new bytes in the instance's memory.
func (i *instance) alloc(ctx context.Context, size int) uint64 {
	if size > MaxMemory && i.err == nil {
		i.err = fmt.Errorf("%w: it needs too much memory", ErrInvalid)
	}
	at := i.call(ctx, "malloc", uint64(size))
	if at == 0 && i.err == nil {
		i.err = fmt.Errorf("%w: it needs too much memory", ErrInvalid)
	}
	return at
}

// write copies `b` into new memory of the instance and returns the address of the copy.
func (i *instance) write(ctx context.Context, b []byte) uint64 {
	at := i.alloc(ctx, len(b))
	if i.err == nil && !i.module.Memory().Write(uint32(at), b) {
		i.err = fmt.Errorf("%w: its memory is out of range", ErrInvalid)
	}
	return at
}

// view returns `size` bytes of the instance's memory. The bytes are valid until the next call of the instance.
func (i *instance) view(at uint64, size int) []byte {
	if i.err != nil {
		return nil
	}
	b, ok := i.module.Memory().Read(uint32(at), uint32(size))
	if !ok {
		i.err = fmt.Errorf("%w: its memory is out of range", ErrInvalid)
	}
	return b
}

// uint32 returns the number at the address `at` in the instance's memory.
func (i *instance) uint32(at uint64) int {
	if i.err != nil {
		return 0
	}
	n, ok := i.module.Memory().ReadUint32Le(uint32(at))
	if !ok {
		i.err = fmt.Errorf("%w: its memory is out of range", ErrInvalid)
	}
	return int(n)
}

// webpMethod is libwebp's compromise between time and size: 0 is the fastest, 6 the smallest.
const webpMethod = 2

// EncodeWebP returns a picture as a lossy WebP of a quality from 0 to 99. The picture's
// pixels must be contiguous: its stride is four times its width. The result has no metadata.
func EncodeWebP(ctx context.Context, picture *image.NRGBA, quality int) ([]byte, error) {
	var encoded []byte
	err := libwebp.run(ctx, func(i *instance) {
		size := picture.Bounds().Size()
		pixels := i.write(ctx, picture.Pix[:4*size.X*size.Y])
		length := i.alloc(ctx, 8)
		out := i.call(ctx, "encode", pixels, uint64(size.X), uint64(size.Y), length, 0, uint64(quality), webpMethod, 0,
			0)
		if out == 0 && i.err == nil {
			i.err = fmt.Errorf("%w: it cannot be encoded", ErrInvalid)
		}
		encoded = bytes.Clone(i.view(out, i.uint32(length)))
	})
	return encoded, err
}

// DecodeAVIF returns the first picture of an AVIF file, with 8 or 16 bits for each channel. Errors:
// [ErrTooLarge] if it has more than `maxPixels` pixels, [ErrInvalid], and the error of ctx.
func DecodeAVIF(ctx context.Context, file []byte, maxPixels int) (image.Image, error) {
	var decoded image.Image
	err := libavif.run(ctx, func(i *instance) {
		at := i.write(ctx, file)
		numbers := i.alloc(ctx, 16)
		width, height, depth, count := numbers, numbers+4, numbers+8, numbers+12
		decode := func(configOnly, delay, out uint64) {
			done := i.call(ctx, "decode", at, uint64(len(file)), configOnly, 0, width, height, depth, count, delay, out)
			if done == 0 && i.err == nil {
				i.err = fmt.Errorf("%w: it is damaged", ErrInvalid)
			}
		}
		decode(1, 0, 0)
		size := image.Pt(i.uint32(width), i.uint32(height))
		if i.err == nil && (size.X == 0 || size.Y == 0 || size.X > maxPixels/size.Y) {
			i.err = ErrTooLarge
		}
		bytesEach := 4
		if i.uint32(depth) > 8 {
			bytesEach = 8
		}
		if i.err != nil {
			return
		}
		// The decoder also reports success if it cannot decode the picture. It writes the duration
		// only after the pixels. An unchanged duration therefore means that the picture is damaged.
		length := bytesEach * size.X * size.Y
		duration, out := i.alloc(ctx, 8), i.alloc(ctx, length)
		if i.err == nil {
			i.module.Memory().WriteUint64Le(uint32(duration), math.MaxUint64)
		}
		decode(0, duration, out)
		if after := i.view(duration, 8); i.err == nil && bytes.Equal(after, bytes.Repeat([]byte{0xFF}, 8)) {
			i.err = fmt.Errorf("%w: it is damaged", ErrInvalid)
		}
		if pixels := i.view(out, length); i.err == nil {
			decoded = newPremultiplied(pixels, size, bytesEach)
		}
	})
	return decoded, err
}

// newPremultiplied returns a copy of the pixels as a picture. Pixels of 8 bytes have channels of 16 bits, little
// endian.
func newPremultiplied(pixels []byte, size image.Point, bytesEach int) image.Image {
	picture := image.NewRGBA(image.Rectangle{Max: size})
	if bytesEach == 4 {
		copy(picture.Pix, pixels)
		return picture
	}
	for n := range picture.Pix {
		picture.Pix[n] = pixels[2*n+1]
	}
	return picture
}
