package web

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

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
