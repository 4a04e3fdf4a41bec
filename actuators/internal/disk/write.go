// Package disk replaces files so that a reader, also after a crash, sees either the old text or the new one.
package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Replace writes text to path, or to the file that a link at path points to, with the mode and owner of the present file. A
// new file has `mode`. The text is on the disk when Replace returns.
func Replace(path string, text []byte, mode os.FileMode) error {
	if behind, err := filepath.EvalSymlinks(path); err == nil {
		path = behind
	}
	folder := filepath.Dir(path)
	next, err := os.CreateTemp(folder, "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	defer os.Remove(next.Name()) // removes nothing after the rename
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
