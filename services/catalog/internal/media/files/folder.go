package files

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

// Folder is a store in a folder of this machine. Each file is in a subfolder with the first two characters of its name.
type Folder string

func (f Folder) path(name string) string { return catalog.PictureFilePath(string(f), name) }

// Put implements [Store]. It creates the folder if there is none.
func (f Folder) Put(_ context.Context, name string, content []byte) error {
	if err := f.put(name, content); err != nil {
		return fmt.Errorf("write a picture to the folder: %w", err)
	}
	return nil
}

// put writes a temporary file and renames it, so that no reader sees a part of the file.
func (f Folder) put(name string, content []byte) error {
	to := f.path(name)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(to), ".new-*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(content)
	err = errors.Join(err, temporary.Sync(), temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), to)
	}
	if err != nil {
		return errors.Join(err, os.Remove(temporary.Name()))
	}
	return nil
}

// Get implements [Store].
func (f Folder) Get(_ context.Context, name string) ([]byte, error) {
	file, err := os.Open(f.path(name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return readAll(file)
}

// Delete implements [Store].
func (f Folder) Delete(_ context.Context, name string) error {
	if err := os.Remove(f.path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete a picture from the folder: %w", err)
	}
	return nil
}

// readAll reads a file of at most [catalog.MaxPictureFile] bytes.
func readAll(r io.Reader) ([]byte, error) {
	content, err := io.ReadAll(io.LimitReader(r, catalog.MaxPictureFile+1))
	if err == nil && len(content) > catalog.MaxPictureFile {
		err = fmt.Errorf("the file is larger than %d bytes", catalog.MaxPictureFile)
	}
	return content, err
}
