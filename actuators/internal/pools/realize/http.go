package realize

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"

	"sluice.dev/actuators/internal/pools/pool"
	"sluice.dev/actuators/internal/web"
)

// HTTP is a pool behind an HTTP interface with JSON responses.
type HTTP struct {
	config HTTPConfig
	client *web.Client
}

// NewHTTP returns the realizer that config describes, or every fault of config.
func NewHTTP(config HTTPConfig) (*HTTP, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	client, err := web.NewClient(config.Config, config.Read.URL, config.Write.URL)
	if err != nil {
		return nil, err
	}
	return &HTTP{config, client}, nil
}

// Read implements Realizer.
func (h *HTTP) Read(ctx context.Context) (pool.Size, pool.Use, error) {
	size, use, err := h.read(ctx)
	return size, use, h.client.Hide(err)
}

// Write sends the filled template. Its errors show no credentials.
func (h *HTTP) Write(ctx context.Context, size uint32) error {
	return h.client.Hide(h.write(ctx, size))
}

func (h *HTTP) read(ctx context.Context) (pool.Size, pool.Use, error) {
	read := h.config.Read
	answer, err := h.client.Do(ctx, web.Request{Method: http.MethodGet, URL: read.URL}, read.Status)
	if err != nil {
		return pool.Size{}, pool.Use{}, fmt.Errorf("read size: %w", err)
	}
	size, err := h.sizeIn(answer)
	if err != nil {
		return pool.Size{}, pool.Use{}, fmt.Errorf("read size: GET %s: %w", read.URL, err)
	}
	return size, pool.Use{Busy: countAt(answer, read.Busy), Waiting: countAt(answer, read.Waiting)}, nil
}

// countAt is nil where pointer is empty, or where no count is at it.
func countAt(answer []byte, pointer string) *uint32 {
	if pointer == "" {
		return nil
	}
	value, err := web.At(answer, pointer)
	if err != nil {
		return nil
	}
	count, err := web.WholeNumber(value, 0)
	if err != nil {
		return nil
	}
	return pool.Count(count)
}

func (h *HTTP) write(ctx context.Context, size uint32) error {
	return writing(size, func() error {
		write := h.config.Write
		answer, err := sizeTemplate.Send(ctx, h.client, write.JSONWrite, sizeField{size})
		if err == nil && write.Pointer != "" {
			err = taken(write, answer)
		}
		return err
	})
}

// taken checks that the response has the text, number or truth value that means success at write.Pointer.
func taken(write HTTPWrite, answer []byte) error {
	value, err := web.At(answer, write.Pointer)
	if err != nil {
		return err
	}
	if got := fmt.Sprint(value); got != write.Equals {
		return fmt.Errorf("the response has %.100q at %q, want %q: %s", got, write.Pointer, write.Equals, web.Excerpt(answer))
	}
	return nil
}

func (h *HTTP) sizeIn(answer []byte) (pool.Size, error) {
	read := h.config.Read
	value, err := web.At(answer, read.Pointer)
	if err != nil {
		return pool.Size{}, err
	}
	if none := read.Unbounded; none != nil && fmt.Sprint(value) == strconv.FormatInt(*none, 10) {
		return pool.Unbounded, nil
	}
	limit, err := numberAt(answer, read.Pointer, value, 1)
	if err != nil || read.InForce == "" {
		return pool.Of(uint32(limit)), err
	}
	if value, err = web.At(answer, read.InForce); err != nil {
		return pool.Size{}, err
	}
	there, err := numberAt(answer, read.InForce, value, 0)
	if err != nil {
		return pool.Size{}, err
	}
	return inForce(limit, there), nil
}

func numberAt(answer []byte, pointer string, value any, low int64) (int64, error) {
	if _, ok := value.(json.Number); !ok {
		return 0, fmt.Errorf("the response has no number at %q: %s", pointer, web.Excerpt(answer))
	}
	number, err := web.WholeNumber(value, low)
	if err != nil {
		return 0, fmt.Errorf("the response has %v at %q: want a whole number from %d to %d", value, pointer, low, uint32(math.MaxUint32))
	}
	return number, nil
}
