package disk

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// Claimer is a place that processes of several hosts may reach, and that only one of them may write at a time.
type Claimer interface {
	// Claim returns nil while this process may write the place: from the first nil until Release, or until the process ends.
	// The error names the owner, or the reason why the owner is not known. who names this process to the others.
	Claim(who string) error
	// Release gives the place up, unless another target of this process claimed it as well.
	Release()
}

// lockAs is the suffix of a lock's name.
const lockAs = ".owner-sluice"

// maxOwner bounds the bytes that are read of an owner's name.
const maxOwner = 512

// Lock is the right to replace a file. A process has it until it ends, however it ends, because the system releases the lock:
// so no time-out is needed. Processes of several hosts see each other's lock where the file system has one lock for all, as
// NFS has.
type Lock struct {
	path string

	mu   sync.Mutex
	mine *taken
}

// taken is a lock of this process, shared by its targets in one file.
type taken struct {
	path    string
	file    *os.File
	targets int
}

var all = struct {
	sync.Mutex
	taken map[string]*taken
}{taken: map[string]*taken{}}

// NewLock returns an untaken lock of the file at path, or of the file that a link at path points to.
func NewLock(path string) *Lock { return &Lock{path: path} }

// Claim implements Claimer.
func (l *Lock) Claim(who string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mine != nil {
		return nil
	}
	path, err := filepath.EvalSymlinks(l.path)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return fmt.Errorf("claim the file: %w", err)
	}
	all.Lock()
	defer all.Unlock()
	if all.taken[path] == nil {
		file, err := take(path, who)
		if err != nil {
			return err
		}
		all.taken[path] = &taken{path: path, file: file}
	}
	l.mine = all.taken[path]
	l.mine.targets++
	return nil
}

// Release implements Claimer.
func (l *Lock) Release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mine == nil {
		return
	}
	all.Lock()
	defer all.Unlock()
	if l.mine.targets--; l.mine.targets == 0 {
		l.mine.file.Close()
		delete(all.taken, l.mine.path)
	}
	l.mine = nil
}

// take locks a file beside path and writes the owner's name into it.
func take(path, who string) (*os.File, error) {
	lock, err := os.OpenFile(path+lockAs, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("claim the file: %w", err)
	}
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		owner, _ := io.ReadAll(io.LimitReader(lock, maxOwner))
		err = fmt.Errorf("%s has %s", owner, path)
	case err != nil:
		err = fmt.Errorf("claim %s: %w", path, err)
	default:
		_, err = lock.WriteAt([]byte(who), 0)
		err = errors.Join(err, lock.Truncate(int64(len(who))))
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}
