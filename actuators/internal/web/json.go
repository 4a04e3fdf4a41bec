package web

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"text/template"

	"github.com/go-openapi/jsonpointer"
)

// At returns the value at a JSON pointer (RFC 6901) of a response.
func At(answer []byte, pointer string) (any, error) {
	document, err := Decode(answer)
	if err != nil {
		return nil, err
	}
	way, err := jsonpointer.New(pointer)
	if err != nil {
		return nil, err
	}
	value, _, err := way.Get(document)
	if err != nil {
		return nil, fmt.Errorf("the response has nothing at %q: %s", pointer, Excerpt(answer))
	}
	return value, nil
}

// WholeNumber converts a JSON number from low to 2^32-1.
func WholeNumber(value any, low int64) (int64, error) {
	number, ok := value.(json.Number)
	if !ok {
		return 0, fmt.Errorf("not a number")
	}
	n, err := strconv.ParseInt(number.String(), 10, 64)
	if err != nil || n < low || n > math.MaxUint32 {
		return 0, fmt.Errorf("%s: want a whole number from %d to %d", number, low, uint32(math.MaxUint32))
	}
	return n, nil
}

// Fill fills in a Go template of the configuration. key names it in errors, and legal the values that it may use.
func Fill(key, text string, values any, legal string) (string, error) {
	var out strings.Builder
	t, err := template.New(key).Parse(text)
	if err == nil {
		err = t.Execute(&out, values)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %q: want a Go template that uses %s only: %w", key, text, legal, err)
	}
	return out.String(), nil
}

// CheckExchange returns the faults of a reading and a write: the method of the write, and the status of each that means
// success.
func CheckExchange(method string, readStatus, writeStatus int) (faults []error) {
	switch method {
	case http.MethodPut, http.MethodPost, http.MethodPatch:
	default:
		faults = append(faults, fmt.Errorf("write.method: %q: want PUT, POST or PATCH", method))
	}
	for key, status := range map[string]int{"read.status": readStatus, "write.status": writeStatus} {
		if status < 200 || status > 299 {
			faults = append(faults, fmt.Errorf("%s: %d: want 200 to 299", key, status))
		}
	}
	return faults
}
