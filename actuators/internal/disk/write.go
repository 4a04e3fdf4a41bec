// Package disk replaces files so that whoever reads one, or finds it after a crash, sees the old text or the new one.
package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Replace puts text at path, behind a link if it is one, with the mode and owner of what stands there; a new file has
// `mode`. It is on the disk when Replace returns.
func Replace(path string, text []byte, mode os.FileMode) error {
	if behind, err := filepath.EvalSymlinks(path); err == nil {
		path = behind
	}
	folder := filepath.Dir(path)
	next, err := os.CreateTemp(folder, "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	defer os.Remove(next.Name()) // nothing is there any more once it has its name
	owner := func() error { return nil }
	if before, err := os.Stat(path); err == nil {
		mode = before.Mode().Perm()
		if now, ok := before.Sys().(*syscall.Stat_t); ok {
			owner = func() error {
				if os.Geteuid() == int(now.Uid) && os.Getegid() == int(now.Gid) {
					return nil
				}
				return next.Chown(int(now.Uid), int(now.Gid))
			}
		}
	}
	_, err = next.Write(text)
	if err = errors.Join(err, owner(), next.Chmod(mode), next.Sync(), next.Close()); err != nil {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	if err := os.Rename(next.Name(), path); err != nil {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	return syncFolder(folder)
}

func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
