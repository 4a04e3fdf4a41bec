package trials

import (
	"crypto/sha256"
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
	name := url.PathEscape(session)
	if len(name) > longestName { // names of sessions may have 512 bytes, each three after this, and names of files 255
		name = fmt.Sprintf("%s-%x", name[:longestName/2], sha256.Sum256([]byte(session)))
	}
	return originals{filepath.Join(folder, "tune-"+name+".json")}
}

// longestName leaves room for what disk.Replace adds.
const longestName = 200

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
