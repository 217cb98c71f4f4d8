package main

import (
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"leveret/config"
)

// tlsListeners are the certificates of the three kinds of listeners; nil for those that don't speak TLS.
type tlsListeners struct {
	amqp, http, metrics *certificates
	log                 *slog.Logger

	stop     chan struct{} // closed when the files need not be watched any more
	watching sync.WaitGroup
}

// webProtocol is what the web servers speak: WebSockets need the first version of HTTP.
var webProtocol = []string{"http/1.1"}

// newTLSListeners reads the files of all listeners. Those of the web servers default to AMQP's, so that one certificate is enough.
func newTLSListeners(c config.Config, log *slog.Logger) (*tlsListeners, error) {
	l := &tlsListeners{log: log, stop: make(chan struct{})}
	var errs []error
	read := func(wanted bool, files config.TLS, protocol []string) *certificates {
		if !wanted {
			return nil
		}
		read, err := newCertificates(files, protocol, log)
		// All files are read, so that one start tells all that is wrong with them.
		errs = append(errs, err)
		return read
	}
	l.amqp = read(len(c.AMQPSAddrs) > 0, c.TLS, nil)
	l.http = read(c.HTTPSAddr != "", c.HTTPTLS.Or(c.TLS), webProtocol)
	l.metrics = read(c.MetricsTLSAddr != "", c.MetricsTLS.Or(c.TLS), webProtocol)
	return l, errors.Join(errs...)
}

// all are those that there are.
func (l *tlsListeners) all() []*certificates {
	return slices.DeleteFunc([]*certificates{l.amqp, l.http, l.metrics}, func(c *certificates) bool { return c == nil })
}

// reload reads all files again.
func (l *tlsListeners) reload() error {
	var errs []error
	for _, c := range l.all() {
		errs = append(errs, c.reload())
	}
	return errors.Join(errs...)
}

// renewalInterval is how often the files are looked at. A renewal has days.
const renewalInterval = 5 * time.Second

// begin watches the files, if there are any, until end is called.
func (l *tlsListeners) begin() {
	if len(l.all()) > 0 {
		l.watching.Go(func() { l.watch(renewalInterval) })
	}
}

// end is called once.
// It returns when nobody reads files any more.
func (l *tlsListeners) end() {
	close(l.stop)
	l.watching.Wait()
}

// watch reads files again when they have changed. What is caught half way fails, and is read when the rest has come.
func (l *tlsListeners) watch(interval time.Duration) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-l.stop:
			return
		case <-tick.C:
		}
		for _, c := range l.all() {
			if !c.changed() {
				continue
			}
			if err := c.reload(); err != nil {
				l.log.Error("changed certificate files are not taken", "error", err)
			} else {
				l.log.Info("certificates reloaded", "file", c.files.CertFile)
			}
		}
	}
}
