package bench

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
)

// publishPictured publishes a salon with a cover, a logo and a picture of each service, and returns its slug. The
// pictures have the details of photographs, because their files would otherwise be too small.
func (w *system) publishPictured() (string, error) {
	s := newSalon("pictured")
	manifest := s.buildManifest()
	if err := w.putManifest(s.slug, manifest, http.StatusCreated); err != nil {
		return "", err
	}
	cover, err := w.uploadPhoto(s.slug, 1600, 900)
	if err != nil {
		return "", err
	}
	manifest["page"] = map[string]any{"cover": cover}
	if manifest["logo"], err = w.uploadPhoto(s.slug, 300, 300); err != nil {
		return "", err
	}
	services := manifest["services"].([]map[string]any)
	for i := range services {
		if services[i]["picture"], err = w.uploadPhoto(s.slug, 401+i, 400); err != nil {
			return "", err
		}
	}
	return s.slug, w.putManifest(s.slug, manifest, http.StatusOK)
}

// putManifest publishes a manifest. The argument `want` is the expected status of the answer.
func (w *system) putManifest(slug string, manifest map[string]any, want int) error {
	body, err := json.Marshal(manifest)
	if err != nil {
		return err
	}
	return w.callAdmin(http.MethodPut, slug, "application/json", body, want)
}

// callAdmin calls the admin API below /admin/businesses. The argument `want` is the expected status of the answer.
func (w *system) callAdmin(method, path, contentType string, body []byte, want int) error {
	status, err := w.http.send(call{
		Method: method, URL: w.addresses.Admin + "/admin/businesses/" + path, Body: body,
		Headers: []string{"Authorization", "Bearer " + adminToken, "Content-Type", contentType},
	}, nil)
	if err == nil && status != want {
		err = fmt.Errorf("%s %s: the answer is %d", method, path, status)
	}
	return err
}

// uploadPhoto adds a picture to a business and returns the picture's id. Pictures of different sizes have different
// ids.
func (w *system) uploadPhoto(slug string, width, height int) (string, error) {
	var file, body bytes.Buffer
	if err := jpeg.Encode(&file, drawPhoto(width, height), &jpeg.Options{Quality: 95}); err != nil {
		return "", err
	}
	form := multipart.NewWriter(&body)
	part, err := form.CreateFormFile("file", "photo.jpg")
	if err == nil {
		_, err = part.Write(file.Bytes())
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		return "", err
	}
	id := sha256.Sum256(file.Bytes())
	return hex.EncodeToString(id[:]), w.callAdmin(http.MethodPost, slug+"/media", form.FormDataContentType(),
		body.Bytes(), http.StatusCreated)
}

// drawPhoto returns a picture with details of all sizes, such as a photograph has: the sum of random values on grids
// from 128 px to 2 px. Finer details have less contrast.
func drawPhoto(width, height int) image.Image {
	//nolint:gosec // the picture must be the same in each run
	random := rand.New(rand.NewPCG(uint64(width), uint64(height)))
	sums := make([][3]float64, width*height)
	for cell := 128; cell >= 2; cell /= 2 {
		columns, contrast := width/cell+2, 48*float64(cell)/128+15
		grid := make([][3]float64, columns*(height/cell+2))
		for i := range grid {
			for c := range grid[i] {
				grid[i][c] = (random.Float64() - 0.5) * contrast
			}
		}
		for i := range sums {
			x, y := i%width, i/width
			at, fx, fy := y/cell*columns+x/cell, float64(x%cell)/float64(cell), float64(y%cell)/float64(cell)
			for c := range 3 {
				above := grid[at][c]*(1-fx) + grid[at+1][c]*fx
				below := grid[at+columns][c]*(1-fx) + grid[at+columns+1][c]*fx
				sums[i][c] += above*(1-fy) + below*fy
			}
		}
	}
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	for i, sum := range sums {
		tone := func(c int) uint8 { return uint8(min(max(128+2*sum[c], 0), 255)) }
		picture.SetRGBA(i%width, i/width, color.RGBA{tone(0), tone(1), tone(2), 255})
	}
	return picture
}
