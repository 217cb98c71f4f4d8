package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"leveret/ctl"
	"leveret/management"
)

// maxSocketPath is how long a socket's path may be; the kernel's limit is a fixed field.
const maxSocketPath = 107

// listenControl serves the API on a socket in the data folder. Whoever may open it, the broker's own user and root, is the operator: that is how
// `broker rabbitmqctl` and health checks get in, whatever has become of users and passwords.
func (w *webServer) listenControl(n *node, handler http.Handler) error {
	path := filepath.Join(n.config.DataDir, ctl.SocketName)
	// A broker in memory has no folder; it is reached by HTTP alone.
	if n.config.DataDir == "" || n.config.DataDir == "none" {
		return nil
	}
	if len(path) > maxSocketPath {
		n.log.Warn("no control socket: the path of the data folder is too long for one", "path", path)
		return nil
	}
	// The folder is this broker's alone, so what is there was left by a crash.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("control socket: %w", err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return fmt.Errorf("control socket: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return fmt.Errorf("control socket: %w", err)
	}
	w.serve(n, l, &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, ErrorLog: slog.NewLogLogger(n.log.Handler(), slog.LevelDebug),
		// The mark that the API trusts; it is in the context, where no header can put it.
		ConnContext: func(ctx context.Context, _ net.Conn) context.Context { return management.Trusted(ctx) },
	})
	return nil
}
