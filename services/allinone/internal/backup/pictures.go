package backup

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

// sumsName is the name of the entry with the checksums of all picture files. Its lines have the form of sha256sum:
// the checksum, two spaces and the name of the file. The file is the entry picturesFolder + name.
const (
	picturesFolder = "media/"
	sumsName       = "media.sha256"
)

// maxPictures is the maximum number of pictures in a backup. It limits the size of sumsName to 250 MB.
const maxPictures = 300_000

// sumLine is the length of one line of sumsName without the name of the file.
const sumLine = sha256.Size*2 + len("  ")

// Pictures describes the files of the uploaded pictures in a backup.
type Pictures struct {
	Count int64 `json:"count"` // number of pictures that are in the backup with all their files
	// Missing is the number of pictures in the tables for which the folder lacks a file.
	Missing int64  `json:"missing,omitempty"`
	SHA256  string `json:"sha256"` // checksum of the entry sumsName
}

// listPictures returns the ids of the pictures of all businesses.
func listPictures(ctx context.Context, tx pgx.Tx) ([]string, error) {
	rows, err := tx.Query(ctx, `SELECT DISTINCT sha256 FROM catalog.media ORDER BY sha256 LIMIT $1`, maxPictures+1)
	if err != nil {
		return nil, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err == nil && len(ids) > maxPictures {
		err = fmt.Errorf("there are more than %d pictures; keep them in a bucket (MEDIA_STORE)", maxPictures)
	}
	return ids, err
}

// writePictures copies the files of the pictures from the folder. A file is never whole in memory.
func (w *writer) writePictures(ctx context.Context, folder string, ids []string) (*Pictures, error) {
	var sums bytes.Buffer
	pictures := &Pictures{}
	for _, id := range ids {
		isWhole := true
		for _, name := range catalog.PictureFiles(id) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			sum, err := w.copyFile(catalog.PictureFilePath(folder, name), picturesFolder+name)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				isWhole = false
			case err != nil:
				return nil, fmt.Errorf("picture %s: %w", name, err)
			default:
				sums.WriteString(sum + "  " + name + "\n")
			}
		}
		if isWhole {
			pictures.Count++
		} else {
			pictures.Missing++
		}
	}
	sum := sha256.Sum256(sums.Bytes())
	pictures.SHA256 = hex.EncodeToString(sum[:])
	return pictures, w.write(sumsName, sums.Bytes())
}

// copyFile copies a file to an entry and returns its checksum. The entry is not compressed, because pictures are.
// Error: [fs.ErrNotExist].
func (w *writer) copyFile(path, entry string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	to, err := w.zip.CreateHeader(&zip.FileHeader{Name: entry, Method: zip.Store})
	if err != nil {
		return "", err
	}
	return copyPicture(to, file)
}

// copyPicture copies a picture's file and returns its checksum.
func copyPicture(to io.Writer, from io.Reader) (string, error) {
	sum := sha256.New()
	copied, err := io.Copy(io.MultiWriter(to, sum), io.LimitReader(from, catalog.MaxPictureFile+1))
	if err == nil && copied > catalog.MaxPictureFile {
		err = fmt.Errorf("the file is larger than %d bytes", catalog.MaxPictureFile)
	}
	return hex.EncodeToString(sum.Sum(nil)), err
}

// checkPictures verifies the checksums of all picture files.
func (b *Backup) checkPictures(ctx context.Context) error {
	if b.Pictures == nil {
		return nil
	}
	if err := b.checkEntry(sumsName, b.Pictures.SHA256); err != nil {
		return fmt.Errorf("%s: %w", sumsName, err)
	}
	return b.eachPicture(ctx, func(_ string, content io.Reader) (string, error) {
		return copyPicture(io.Discard, content)
	})
}

// eachPicture calls `use` with the name and the content of each picture file. The result of `use` is the checksum of
// what it has read, which must be that in sumsName.
func (b *Backup) eachPicture(ctx context.Context, use func(name string, content io.Reader) (string, error)) error {
	sums, err := b.zip.Open(sumsName)
	if err != nil {
		return err
	}
	defer func() { _ = sums.Close() }()
	lines := bufio.NewScanner(sums)
	for lines.Scan() {
		if err := ctx.Err(); err != nil {
			return err
		}
		want, name, _ := strings.Cut(lines.Text(), "  ")
		if len(want)+len("  ") != sumLine || !isPictureFile(name) {
			return fmt.Errorf("%s: it has an invalid line", sumsName)
		}
		if err := b.usePicture(name, want, use); err != nil {
			return fmt.Errorf("%s%s: %w", picturesFolder, name, err)
		}
	}
	return lines.Err()
}

func (b *Backup) usePicture(name, want string, use func(string, io.Reader) (string, error)) error {
	content, err := b.zip.Open(picturesFolder + name)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }()
	sum, err := use(name, content)
	if err == nil && sum != want {
		err = errChecksum
	}
	return err
}

// isPictureFile reports whether a name is one of [catalog.PictureFiles], so that it is no path to another folder.
func isPictureFile(name string) bool {
	id, _, _ := strings.Cut(name, "-")
	if !catalog.IsPictureID(id) {
		return false
	}
	for _, known := range catalog.PictureFiles(id) {
		if name == known {
			return true
		}
	}
	return false
}

// FolderNotEmptyError means that the folder for pictures has files, so that the pictures cannot be restored.
type FolderNotEmptyError struct{ Folder string }

func (e *FolderNotEmptyError) Error() string { return "the folder " + e.Folder + " is not empty" }

// HasPictures reports whether the backup has files of pictures.
func (b *Backup) HasPictures() bool {
	return b.Pictures != nil && b.Pictures.Count+b.Pictures.Missing > 0
}

// RestorePictures writes the picture files to a folder, which must be empty or missing. A file is never whole in
// memory. The returned function removes the files again; if RestorePictures fails, it has removed them itself.
// Error: [*FolderNotEmptyError].
func (b *Backup) RestorePictures(ctx context.Context, folder string) (func() error, error) {
	if !b.HasPictures() {
		return func() error { return nil }, nil
	}
	entries, err := os.ReadDir(folder)
	if len(entries) > 0 {
		return nil, &FolderNotEmptyError{folder}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	remove := func() error { return os.RemoveAll(folder) }
	if err == nil {
		remove = func() error { return removeEntries(folder) }
	}
	err = b.eachPicture(ctx, func(name string, content io.Reader) (string, error) {
		return writePicture(catalog.PictureFilePath(folder, name), content)
	})
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	return remove, nil
}

func removeEntries(folder string) error {
	entries, err := os.ReadDir(folder)
	for _, entry := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(folder, entry.Name())))
	}
	return err
}

func writePicture(path string, content io.Reader) (string, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	sum, err := copyPicture(file, content)
	if err == nil {
		err = file.Sync()
	}
	return sum, errors.Join(err, file.Close())
}
