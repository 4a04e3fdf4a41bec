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

// Claimer is a place that processes of several hosts may reach, of which one at a time may write.
type Claimer interface {
	// Claim is nil while the place is this process's to write: from the first nil until Release, or until the process ends. The
	// error says whose it is, or why that is not known. who names this process to the others.
	Claim(who string) error
	// Release lets others have it, unless another target of this process claimed it as well.
	Release()
}

// lockAs is what the name of a lock ends with.
const lockAs = ".owner-sluice"

// maxOwner bounds what is read of who has a lock.
const maxOwner = 512

// Lock is the right to replace a file, which a process has until it ends, by whatever: the system takes it back, so that there
// is no time to wait for. Processes of several hosts see each other's where the file system has one lock for all, as NFS has.
type Lock struct {
	path string

	mu   sync.Mutex
	mine *taken
}

// taken is a lock of this process, which several of its targets in one file have together.
type taken struct {
	path    string
	file    *os.File
	targets int
}

var all = struct {
	sync.Mutex
	taken map[string]*taken
}{taken: map[string]*taken{}}

// NewLock is of the file at path, behind a link if it is one. It is not taken yet.
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

// take locks a file beside path, which says who has it.
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
