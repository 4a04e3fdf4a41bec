package disk

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// MaxBytes bounds the bytes that Read reads of a file.
const MaxBytes = 1 << 20

// Read returns the text of a file of at most 1 MB.
func Read(path string) ([]byte, error) {
	from, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	text, err := io.ReadAll(io.LimitReader(from, MaxBytes+1))
	if err == nil && len(text) > MaxBytes {
		err = fmt.Errorf("%s: longer than %d bytes", path, MaxBytes)
	}
	return text, err
}

// ReadJSON decodes a file into value, which stays as it is where no file is at path.
func ReadJSON(path string, value any) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal(text, value)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
