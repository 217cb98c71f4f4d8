package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"leveret/auth"
	"leveret/config"
	"leveret/events"
	"leveret/server"
	"leveret/shovel"
	"leveret/store"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// stopTime bounds each step of a clean stop: clients get this long to answer connection.close, the store to write its checkpoint.
const stopTime = 10 * time.Second

// serveOptions are the flags of `broker serve`: all settings, and what is no setting.
type serveOptions struct {
	configFlags
	readyFile string
}

// AddFlags declares the command's flags.
func (o *serveOptions) AddFlags(flags *pflag.FlagSet) {
	o.configFlags.AddFlags(flags)
	flags.StringVar(&o.readyFile, "ready-file", "", "file to write the addresses to, as JSON, once all listeners are up")
}

// newServeCommand makes `broker serve`. Signals are taken here and not in serve, which is told of them by its context and a channel.
func newServeCommand() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the broker",
		Long: "Run the broker.\n\n" +
			"SIGTERM and SIGINT stop it cleanly; SIGHUP reads the TLS certificate and the log level again.\n" +
			"Settings come from the file, the environment (LEVERET_...) and these flags, each of which overrides the ones before.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// Read and checked before anything is opened: a broker with wrong settings leaves no trace.
			loaded, err := o.load()
			if err == nil {
				err = loaded.Validate()
			}
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM, syscall.SIGINT)
			defer stop()
			context.AfterFunc(ctx, stop)       // a second signal ends the process at once
			hangups := make(chan os.Signal, 1) // more than one at a time mean the same as one
			signal.Notify(hangups, syscall.SIGHUP)
			defer signal.Stop(hangups)
			signal.Ignore(syscall.SIGXFSZ) // a file over the process's limit is an error of the write, and dealt with there
			return serve(ctx, loaded, o, hangups, cmd.ErrOrStderr())
		},
	}
	o.AddFlags(cmd.Flags())
	return cmd
}

// serve runs a broker until ctx ends. A value from hangups makes it read again what may change while it runs. Logs go to w.
func serve(ctx context.Context, loaded *config.Loaded, o serveOptions, hangups <-chan os.Signal, w io.Writer) error {
	// A variable, as a reload and the API change it while the broker logs.
	level := new(slog.LevelVar)
	level.Set(levelNamed(loaded.LogLevel))
	log := newLogger(w, loaded.LogFormat, level)
	for _, warning := range loaded.Warnings {
		log.Warn("configuration", "warning", warning)
	}
	n, err := newNode(loaded.Config, log, level)
	if err != nil {
		return err
	}
	// Whatever ends the broker, it is stopped in order: even when a listener could not be opened, others may be there.
	err = n.start(o.readyFile)
	for err == nil && ctx.Err() == nil {
		select {
		case <-ctx.Done():
			log.Info("stopping")
		case <-n.stops:
			log.Info("stopping, as an operator says")
			return n.stop()
		case err = <-n.failed:
		case <-n.store.Failed():
			err = fmt.Errorf("the store failed: %w", n.store.Err())
			log.Error("the broker stops, nothing can be kept any more", "error", err)
		case <-hangups:
			n.reload(&o.configFlags, level)
		}
	}
	return errors.Join(err, n.stop())
}

// node is a running broker: everything that has to be stopped again.
type node struct {
	config      config.Config
	log         *slog.Logger
	store       store.Store
	users       *auth.Authenticator
	server      *server.Server
	shovels     *shovel.Manager
	events      *events.Bus // what happens
	logLines    *events.Bus // the lines of the log; nil if they go nowhere else
	tls         *tlsListeners
	memoryLimit uint64 // bytes from which publishers are held
	web         webServers
	crowd       crowd          // of the web servers
	failed      chan error     // a web server that ended by itself
	stops       chan struct{}  // an operator wants the process to end
	level       *slog.LevelVar // of the log
}

// newNode opens the store and reads what is in it. Nobody can connect yet.
func newNode(c config.Config, log *slog.Logger, level *slog.LevelVar) (*node, error) {
	s, err := openStore(c, log)
	if err != nil {
		return nil, err
	}
	n := &node{
		config: c, log: log, store: s, events: events.New(), failed: make(chan error, webServerCount),
		stops: make(chan struct{}, 1), level: level, crowd: crowd{limit: crowdLimit},
	}
	if c.LogExchange {
		n.logLines = events.New()
		n.log = slog.New(events.LogHandler(log.Handler(), n.logLines, c.LogFormat == "json"))
	}
	if err := n.open(); err != nil {
		return nil, errors.Join(err, n.closeStore())
	}
	return n, nil
}

// open builds what stands on the store, in the order in which they need each other.
func (n *node) open() (err error) {
	if err := n.seed(); err != nil {
		return err
	}
	// Users come before the server, whose connections log in; shovels after it, whose clients they are.
	users := authOptions(n.config, n.store, n.events)
	if users.CheckPassword, err = n.config.CheckPassword(); err != nil {
		return err
	}
	if users.Tokens, err = tokenVerifier(n.config, n.log); err != nil {
		return err
	}
	if n.users, err = auth.New(users); err != nil {
		return fmt.Errorf("users: %w", err)
	}
	n.limitMemory()
	options := serverOptions(n.config, n.memoryLimit)
	options.OnMemoryLimit = limitRuntime
	if n.tls, err = newTLSListeners(n.config, n.log); err != nil {
		return err
	}
	if n.tls.amqp != nil {
		options.TLS = n.tls.amqp.config()
	}
	n.server, err = server.New(options, server.Dependencies{
		Store: n.store, Users: n.users, Log: n.log, Events: n.events, LogLines: n.logLines,
	})
	if err != nil {
		return err
	}
	n.shovels = shovel.New(n.server, n.config.Node(), n.log)
	return n.importDefinitions()
}

// seed decides what the start makes beside what the store has. Only a first start makes the default user: whoever has deleted all users does not
// want guest back. With definitions to import even that makes nothing but what they say.
func (n *node) seed() error {
	if n.config.ImportsDefinitions() {
		n.config.DefaultUser, n.config.DefaultVHost = "", ""
		return nil
	}
	fresh, err := server.Fresh(n.store)
	if err == nil && !fresh {
		n.config.DefaultUser = ""
	}
	return err
}

// limitMemory finds out from where on publishers are held, and tells the Go runtime to collect garbage harder before that.
func (n *node) limitMemory() {
	n.memoryLimit = uint64(watermark(n.config.Memory, memoryTotal(os.DirFS("/"))))
	limitRuntime(n.memoryLimit)
}

// leastRuntimeLimit is below what a broker needs for itself. A runtime that may not have that would do nothing but collect garbage.
const leastRuntimeLimit = 64 << 20

// limitRuntime has the runtime collect garbage harder from nine tenths of the limit on: publishers should be held for what the broker keeps, not
// for garbage that nobody has collected yet.
func limitRuntime(limit uint64) {
	if limit >= leastRuntimeLimit && os.Getenv("GOMEMLIMIT") == "" { // who sets the variable knows better
		debug.SetMemoryLimit(int64(limit / 10 * 9))
	}
}

// start opens all listeners, tells the world that they are there, and lets clients in.
func (n *node) start(readyFile string) error {
	if err := n.server.Listen(); err != nil {
		return err
	}
	if err := n.web.listen(n); err != nil {
		return err
	}
	// From here on everything answers, and only now is anybody told. A script that waits for the file may connect at once.
	n.server.Serve()
	n.shovels.Start()
	n.tls.begin()
	at := n.addresses()
	if readyFile != "" {
		if err := writeReadyFile(readyFile, at); err != nil {
			return err
		}
	}
	n.log.Info("ready", "amqp", at.AMQP, "amqps", at.AMQPS, "http", at.HTTP, "https", at.HTTPS,
		"metrics", at.Metrics, "metrics_tls", at.MetricsTLS, "node", n.config.Node(), "version", version)
	return nil
}

// addresses are those of the listeners, not those of the settings: port 0 has become a real one. Lists are empty and never null in JSON.
func (n *node) addresses() addresses {
	at := addresses{
		AMQP: []string{}, AMQPS: []string{}, HTTP: n.web.http.addresses(), HTTPS: n.web.https.addresses(),
		Metrics: n.web.metrics.addresses(), MetricsTLS: n.web.metricsTLS.addresses(),
	}
	plain, secure := n.server.Addresses()
	at.AMQP, at.AMQPS = append(at.AMQP, plain...), append(at.AMQPS, secure...)
	return at
}

// reload reads the settings and the certificate again. What is wrong with them is logged, and what was there stays in use.
func (n *node) reload(flags *configFlags, level *slog.LevelVar) {
	loaded, err := flags.load()
	if err != nil {
		n.log.Error("configuration is not read again", "error", err)
	} else {
		level.Set(levelNamed(loaded.LogLevel))
	}
	if err := n.tls.reload(); err != nil {
		n.log.Error("certificate is not read again", "error", err)
		return
	}
	n.log.Info("reloaded", "level", level.Level())
}

// stop ends everything in order: shovels, clients, web servers, the store.
func (n *node) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	// No certificate is read again from here on.
	n.tls.end()
	n.shovels.Close()
	// The API answers while clients leave, so that an operator sees them go.
	err := errors.Join(n.server.Close(ctx), n.web.close(ctx))
	// Nothing happens any more that somebody could be told of.
	n.events.Close()
	n.logLines.Close()
	err = errors.Join(err, n.closeStore())
	n.log.Info("stopped")
	return err
}

// closeStore has a time limit of its own, as clients that did not leave must not cost the checkpoint.
func (n *node) closeStore() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTime)
	defer cancel()
	return n.store.Close(ctx)
}
