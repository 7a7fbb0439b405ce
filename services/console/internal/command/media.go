package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/slotmesh/slotmesh/libs/contracts/adminapi"
	"github.com/slotmesh/slotmesh/libs/contracts/catalog"
)

func (c *command) newMediaGroup() *cobra.Command {
	return newGroup("media", "Look after a business's uploaded pictures", c.newAddPictureCommand(), c.newListPicturesCommand(),
		c.newDeletePictureCommand())
}

func (c *command) newAddPictureCommand() *cobra.Command {
	cmd := c.newBusinessCommand("add SLUG FILE", "Upload a picture and print its id, which the manifest shows", 2,
		func(cmd *cobra.Command, args []string, client *client) error {
			body, contentType, err := readPicture(args[1])
			if err != nil {
				return err
			}
			answer, err := client.do(cmd.Context(), adminapi.Request{Method: http.MethodPost, Path: buildPath(args[0], "media"),
				Header: map[string]string{"Content-Type": contentType}, Body: body})
			if err != nil {
				return err
			}
			var added catalog.UploadedPicture
			if err := client.read(answer, &added); err != nil {
				return err
			}
			return c.printDone(added, "%s", added.ID)
		})
	cmd.Long = "Uploads a JPEG, PNG, WebP, AVIF or GIF file of at most 10 MB and prints its id. Write the id into the " +
		"manifest as logo, page.cover, in page.gallery, as photo of a member of the staff, or as picture of a service, " +
		"an event or a rental. The same file has the same id."
	cmd.Example = "  slotmesh media add harbor cut.jpg"
	return cmd
}

// readPicture returns a multipart body with a file of this machine, and the type of the body.
func readPicture(name string) ([]byte, string, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, "", &localError{fmt.Errorf("the picture cannot be read: %w", err)}
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(io.LimitReader(file, catalog.MaxPictureBytes+1))
	if err == nil && len(content) > catalog.MaxPictureBytes {
		err = errors.New("it is larger than 10 MB")
	}
	if err != nil {
		return nil, "", &localError{fmt.Errorf("the picture cannot be read: %w", err)}
	}
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", filepath.Base(name))
	if err == nil {
		_, err = part.Write(content)
	}
	err = errors.Join(err, form.Close())
	return body.Bytes(), form.FormDataContentType(), err
}

func (c *command) newListPicturesCommand() *cobra.Command {
	cmd := c.newBusinessCommand("list SLUG", "List a business's pictures", 1,
		func(cmd *cobra.Command, args []string, client *client) error {
			list, err := readPages[catalog.UploadedPicture](cmd.Context(), client, buildPath(args[0], "media"), "pictures",
				url.Values{})
			if err != nil {
				return err
			}
			t := table{head: []string{"ID", "WIDTH", "HEIGHT", "TYPE", "BYTES", "USED", "CREATED"}}
			for _, p := range list {
				t.rows = append(t.rows, []string{p.ID, strconv.Itoa(p.Width), strconv.Itoa(p.Height), p.MIME,
					strconv.FormatInt(p.Bytes, 10), strconv.FormatBool(p.Used), formatInstant(&p.CreatedAt)})
			}
			return c.print(catalog.PictureList{Pictures: list}, t)
		})
	cmd.Example = "  slotmesh media list harbor"
	return cmd
}

func (c *command) newDeletePictureCommand() *cobra.Command {
	cmd := c.newBusinessCommand("delete SLUG ID", "Delete a picture that the manifest does not show", 2,
		func(cmd *cobra.Command, args []string, client *client) error {
			if err := client.call(cmd.Context(), http.MethodDelete, buildPath(args[0], "media", args[1]), nil, nil); err != nil {
				return err
			}
			return c.printDone(map[string]any{"id": args[1], "deleted": true}, "%s is deleted", args[1])
		})
	cmd.Example = "  slotmesh media delete harbor 5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"
	return cmd
}
