// Package program notifies programs of a written file, and runs commands.
package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"sluice.dev/actuators/internal/web"
)

// Bounds of the output of a command that is kept.
const (
	maxOut  = 64 << 10
	maxErrs = 1 << 10
)

// Config has the keys of how a program is notified.
type Config struct {
	// Signal is sent after a write to the process whose id is in PIDFile.
	Signal  string `yaml:"signal"`
	PIDFile string `yaml:"pid_file"`
	// Command runs after a write, without a shell.
	Command []string `yaml:"command"`
	// Timeout bounds each command.
	Timeout time.Duration `yaml:"timeout"`
}

var signals = map[string]syscall.Signal{
	"HUP": syscall.SIGHUP, "USR1": syscall.SIGUSR1, "USR2": syscall.SIGUSR2, "WINCH": syscall.SIGWINCH,
}

// Default notifies no program.
func Default() Config { return Config{Timeout: 5 * time.Second} }

// Validate returns every fault, each with its key and the legal values.
func (c *Config) Validate() error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if _, ok := signals[c.Signal]; c.Signal != "" && !ok {
		fault("signal: %q: want one of %s", c.Signal, strings.Join(slices.Sorted(maps.Keys(signals)), ", "))
	}
	if (c.Signal == "") != (c.PIDFile == "") {
		fault("pid_file: %q: want signal and pid_file together, or neither", c.PIDFile)
	}
	if c.Timeout < time.Millisecond || c.Timeout > time.Minute {
		fault("timeout: %s: want 1ms to 1m", c.Timeout)
	}
	return errors.Join(faults...)
}

// Notify sends the signal and runs the command, with additional variables in its environment.
func (c *Config) Notify(ctx context.Context, environment ...string) error {
	if c.Signal != "" {
		text, err := os.ReadFile(c.PIDFile)
		if err != nil {
			return err
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil || pid < 2 { // 0 and less are process groups, 1 is init
			return fmt.Errorf("%s: %s: want a process id", c.PIDFile, web.Excerpt(text))
		}
		if err := syscall.Kill(pid, signals[c.Signal]); err != nil {
			return fmt.Errorf("signal %s to process %d: %w", c.Signal, pid, err)
		}
	}
	if len(c.Command) == 0 {
		return nil
	}
	_, err := c.Run(ctx, c.Command, environment...)
	return err
}

// Run returns the first 64 kB of a command's output. When the timeout is over, it ends the command and the processes that the
// command started.
func (c *Config) Run(ctx context.Context, words []string, environment ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	command := group(ctx, words)
	command.Env = append(os.Environ(), environment...)
	out, errs := bounded{most: maxOut}, bounded{most: maxErrs}
	command.Stdout, command.Stderr = &out, &errs
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("run %s: %w: %s", words[0], errors.Join(err, ctx.Err()), web.Excerpt(errs.Bytes()))
	}
	return out.Bytes(), nil
}

// group is a command in a process group of its own, which ends as a whole with ctx.
func group(ctx context.Context, words []string) *exec.Cmd {
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	// Reading the rest of the output may take that long on a loaded machine; a process that holds the pipe open takes longer.
	command.WaitDelay = 2 * time.Second
	return command
}

// RunDetached runs a command that may leave processes behind, such as one that restarts a program. Where the timeout is over
// first, it ends the command and the processes that the command started.
func RunDetached(ctx context.Context, timeout time.Duration, words []string) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	command := group(ctx, words)
	// A file, not a pipe: a process that outlives the command may hold it open.
	out, err := os.CreateTemp("", "sluice-reload-*")
	if err != nil {
		return err
	}
	defer os.Remove(out.Name())
	defer out.Close()
	command.Stdout, command.Stderr = out, out
	if err := command.Run(); err != nil {
		text, _ := os.ReadFile(out.Name())
		return fmt.Errorf("%w: %s", errors.Join(err, ctx.Err()), strings.TrimSpace(string(text[:min(len(text), 300)])))
	}
	return nil
}

// bounded keeps the first bytes.
type bounded struct {
	bytes.Buffer
	most int
}

func (b *bounded) Write(text []byte) (int, error) {
	b.Buffer.Write(text[:min(len(text), max(0, b.most-b.Len()))])
	return len(text), nil
}
