// Package files stores the files of uploaded pictures, in a folder or in a bucket of an S3-compatible store.
package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// Store stores files by name. A name consists of letters, digits, "-" and ".", and has more
// than two characters. A file never changes, but the same file may be written several times.
type Store interface {
	// Put writes a file. When it returns nil, the file is complete and durable.
	Put(ctx context.Context, name string, content []byte) error
	// Get reads a file. Error: [fs.ErrNotExist].
	Get(ctx context.Context, name string) ([]byte, error)
	// Delete deletes a file, if there is one.
	Delete(ctx context.Context, name string) error
}

// errAddress is the error for an invalid address. It does not show the address, which may contain a password.
var errAddress = errors.New("write the path of a folder, or s3://KEY:SECRET@HOST/BUCKET, optionally with a folder in " +
	"the bucket, ?region=REGION, and ?insecure=true for http")

// Open returns the store at an address: the absolute path of a folder, or a URL
// s3://KEY:SECRET@HOST[:PORT]/BUCKET[/FOLDER][?region=REGION][&insecure=true]. Open does not connect.
func Open(address string) (Store, error) {
	if filepath.IsAbs(address) {
		return Folder(filepath.Clean(address)), nil
	}
	at, err := url.Parse(address)
	if err != nil || at.Scheme != "s3" || at.Host == "" || at.User == nil {
		return nil, errAddress
	}
	bucket, folder, _ := strings.Cut(strings.Trim(at.Path, "/"), "/")
	secret, _ := at.User.Password()
	query := at.Query()
	region := "us-east-1"
	if r := query.Get("region"); r != "" {
		region = r
	}
	if bucket == "" || secret == "" {
		return nil, errAddress
	}
	client, err := minio.New(at.Host, &minio.Options{
		Creds:  credentials.NewStaticV4(at.User.Username(), secret, ""),
		Secure: query.Get("insecure") != "true", Region: region,
	})
	if err != nil {
		return nil, errAddress
	}
	return &s3{client: client, bucket: bucket, folder: folder}, nil
}

// s3 is a store in a bucket.
type s3 struct {
	client         *minio.Client
	bucket, folder string
}

func (s *s3) object(name string) string { return path.Join(s.folder, name) }

// Put implements [Store].
func (s *s3) Put(ctx context.Context, name string, content []byte) error {
	_, err := s.client.PutObject(ctx, s.bucket, s.object(name), strings.NewReader(string(content)), int64(len(content)),
		minio.PutObjectOptions{ContentType: "application/octet-stream", DisableMultipart: true, DisableContentSha256: true})
	if err != nil {
		return fmt.Errorf("write a picture to the bucket: %w", err)
	}
	return nil
}

// Get implements [Store].
func (s *s3) Get(ctx context.Context, name string) ([]byte, error) {
	object, err := s.client.GetObject(ctx, s.bucket, s.object(name), minio.GetObjectOptions{})
	if err != nil {
		return nil, fmt.Errorf("read a picture from the bucket: %w", err)
	}
	defer func() { _ = object.Close() }()
	content, err := readAll(object)
	if minio.ToErrorResponse(err).Code == minio.NoSuchKey {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, fmt.Errorf("read a picture from the bucket: %w", err)
	}
	return content, nil
}

// Delete implements [Store].
func (s *s3) Delete(ctx context.Context, name string) error {
	err := s.client.RemoveObject(ctx, s.bucket, s.object(name), minio.RemoveObjectOptions{})
	if err != nil && minio.ToErrorResponse(err).Code != minio.NoSuchKey {
		return fmt.Errorf("delete a picture from the bucket: %w", err)
	}
	return nil
}
