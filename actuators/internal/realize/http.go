package realize

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-openapi/jsonpointer"

	"sluice.dev/actuators/internal/pool"
	"sluice.dev/actuators/internal/redact"
)

// maxAnswerBytes bounds what is read of an answer; what is longer is an error.
const maxAnswerBytes = 64 << 10

// HTTP is a pool behind an HTTP interface that answers JSON.
type HTTP struct {
	config  HTTPConfig
	pointer jsonpointer.Pointer
	client  *http.Client
	secrets redact.Secrets
}

// NewHTTP returns the realizer that config describes, or every fault of config.
func NewHTTP(config HTTPConfig) (*HTTP, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	pointer, err := jsonpointer.New(config.Read.Pointer)
	if err != nil {
		return nil, err
	}
	client := &http.Client{
		Timeout: config.Timeout,
		// A redirected PUT becomes a GET and would pass for a success.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	secrets := redact.Of(config.Headers, config.Read.URL, config.Write.URL)
	return &HTTP{config: config, pointer: pointer, client: client, secrets: secrets}, nil
}

// Read gets the read URL and returns the whole number that the pointer leads to, or pool.Unbounded where it is the one
// that means so. Its errors show no credentials.
func (h *HTTP) Read(ctx context.Context) (pool.Size, error) {
	size, err := h.read(ctx)
	return size, h.secrets.Error(err)
}

// Write sends the filled template. What the target answers beyond its status is not looked at: Read tells. Its errors
// show no credentials.
func (h *HTTP) Write(ctx context.Context, size uint32) error {
	return h.secrets.Error(h.write(ctx, size))
}

func (h *HTTP) read(ctx context.Context) (pool.Size, error) {
	answer, err := h.request(ctx, http.MethodGet, h.config.Read.URL, "", h.config.Read.Status)
	if err != nil {
		return pool.Size{}, fmt.Errorf("read size: %w", err)
	}
	size, err := h.sizeIn(answer)
	if err != nil {
		return pool.Size{}, fmt.Errorf("read size: GET %s: %w", h.config.Read.URL, err)
	}
	return size, nil
}

func (h *HTTP) write(ctx context.Context, size uint32) error {
	if size == 0 {
		return errors.New("write size: 0: want at least 1")
	}
	address, err := render("write.url", h.config.Write.URL, size)
	if err != nil {
		return fmt.Errorf("write size %d: %w", size, err)
	}
	body, err := render("write.body", h.config.Write.Body, size)
	if err != nil {
		return fmt.Errorf("write size %d: %w", size, err)
	}
	if _, err := h.request(ctx, h.config.Write.Method, address, body, h.config.Write.Status); err != nil {
		return fmt.Errorf("write size %d: %w", size, err)
	}
	return nil
}

func (h *HTTP) request(ctx context.Context, method, address, body string, want int) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	request.Header.Set("User-Agent", "sluice-actuator")
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for name, value := range h.config.Headers {
		request.Header.Set(name, value)
	}
	response, err := h.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s %s: read the answer: %w", method, address, err)
	case response.StatusCode != want:
		return nil, fmt.Errorf("%s %s: status %d, want %d: %s", method, address, response.StatusCode, want, excerpt(answer))
	case len(answer) > maxAnswerBytes:
		return nil, fmt.Errorf("%s %s: the answer is longer than %d bytes", method, address, maxAnswerBytes)
	}
	return answer, nil
}

func (h *HTTP) sizeIn(answer []byte) (pool.Size, error) {
	decoder := json.NewDecoder(bytes.NewReader(answer))
	decoder.UseNumber()
	var document any
	if err := decoder.Decode(&document); err != nil {
		return pool.Size{}, fmt.Errorf("the answer is not JSON: %s", excerpt(answer))
	}
	at := h.config.Read.Pointer
	value, _, err := h.pointer.Get(document)
	if err != nil {
		return pool.Size{}, fmt.Errorf("the answer has nothing at %q: %s", at, excerpt(answer))
	}
	number, ok := value.(json.Number)
	if !ok {
		return pool.Size{}, fmt.Errorf("the answer has no number at %q: %s", at, excerpt(answer))
	}
	if none := h.config.Read.Unbounded; none != nil && number.String() == strconv.FormatInt(*none, 10) {
		return pool.Unbounded, nil
	}
	size, err := strconv.ParseUint(number.String(), 10, 32)
	if err != nil || size == 0 {
		return pool.Size{}, fmt.Errorf("the answer has %s at %q: want a whole number from 1 to %d", number, at, uint32(math.MaxUint32))
	}
	return pool.Of(uint32(size)), nil
}

// excerpt shortens an answer for an error message.
func excerpt(answer []byte) string {
	const most = 200
	if len(answer) > most {
		return fmt.Sprintf("%q...", answer[:most])
	}
	return fmt.Sprintf("%q", bytes.TrimSpace(answer))
}
