package form

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// FileInput is the suffix of the name of the input with which a person chooses the file of a [Picture] field, or of the
// next picture of a [Pictures] field.
const FileInput = ".file"

// UploadPicture is the suffix of the name of the button that uploads the chosen file and shows the form again.
const UploadPicture = ".upload"

// Suffixes of the names of buttons that change a [Picture] or [Pictures] field. In a [Pictures] field, a dot and the
// index of the picture follow.
const (
	RemovePicture = ".remove"
	MoveEarlier   = ".earlier"
	MoveLater     = ".later"
)

// AddPicture writes the id of a new picture into the values of a form: it replaces the picture of a [Picture] field, and
// becomes the last one of a [Pictures] field. It reports whether the form has such a field with this name.
func AddPicture(values url.Values, fields []Field, name, id string) bool {
	f, found := FindField(fields, name)
	switch {
	case found && f.Kind == Picture:
		values.Set(name, id)
	case found && f.Kind == Pictures:
		if list := ListPictures(values, name); !slices.Contains(list, id) {
			values[name] = append(list, id)
		}
	default:
		return false
	}
	return true
}

// ListPictures returns the ids of the pictures that a form has for a field.
func ListPictures(values url.Values, name string) []string {
	return slices.DeleteFunc(slices.Clone(values[name]), func(id string) bool { return id == "" })
}

// handlePictureButton removes or moves a picture, if the argument `button` is the name of such a button.
func handlePictureButton(values url.Values, fields []Field, button string) {
	if name, isRemove := strings.CutSuffix(button, RemovePicture); isRemove {
		if f, found := FindField(fields, name); found && f.Kind == Picture {
			values.Set(name, "")
		}
		return
	}
	i := strings.LastIndexByte(button, '.')
	if i < 0 {
		return
	}
	at, err := strconv.Atoi(button[i+1:])
	for _, action := range []string{RemovePicture, MoveEarlier, MoveLater} {
		name, isAction := strings.CutSuffix(button[:i], action)
		f, found := FindField(fields, name)
		if list := ListPictures(values, name); isAction && found && f.Kind == Pictures && err == nil && at >= 0 &&
			at < len(list) {
			values[name] = changePictures(list, action, at)
		}
	}
}

// changePictures returns the list after a button of the picture with the index `at` was pressed.
func changePictures(list []string, action string, at int) []string {
	other := at - 1
	switch action {
	case RemovePicture:
		return slices.Delete(list, at, at+1)
	case MoveLater:
		other = at + 1
	}
	if other >= 0 && other < len(list) {
		list[at], list[other] = list[other], list[at]
	}
	return list
}
