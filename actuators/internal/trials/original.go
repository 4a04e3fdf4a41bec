package trials

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"sluice.dev/actuators/internal/disk"
)

// originals is the file with the values that were in force before the first trial of a session; an empty path keeps none.
type originals struct{ path string }

func originalsFile(folder, session string) originals {
	if folder == "" {
		return originals{}
	}
	return originals{filepath.Join(folder, "tune-"+url.PathEscape(session)+".json")}
}

// known returns the values that an earlier run of the session kept; nil where it kept none, or restored them all.
func (o originals) known() (kept Values, err error) {
	if o.path == "" {
		return nil, nil
	}
	if err := disk.ReadJSON(o.path, &kept); err != nil {
		return nil, fmt.Errorf("read the original values: %w", err)
	}
	return kept, nil
}

func (o originals) keep(values Values) error {
	if o.path == "" {
		return nil
	}
	text, err := json.MarshalIndent(values, "", "  ")
	if err != nil {
		return err
	}
	return disk.Replace(o.path, append(text, '\n'), 0o600)
}

func (o originals) forget() error {
	if o.path == "" {
		return nil
	}
	if err := os.Remove(o.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
