package main

import (
	"os"

	"leveret/config"

	"github.com/spf13/pflag"
)

// configFlags are the flags that name settings, and the one that names their file. The settings themselves, their defaults and their order
// of precedence are config's.
type configFlags struct {
	file   string
	values map[string]*[]string // what each flag was given, by its name; nothing if it was not
}

// flagHelp has a line for every flag that config knows.
var flagHelp = map[string]string{
	"amqp-addr":    "address to listen on for AMQP, host:port or port, port 0 for a free one; may be repeated (default :5672)",
	"amqps-addr":   "address to listen on for AMQP over TLS; may be repeated; needs --tls-cert and --tls-key",
	"tls-cert":     "file of the TLS certificate, PEM; read again on SIGHUP",
	"tls-key":      "file of the certificate's key, PEM",
	"tls-ca":       "file of the certificates that may sign those of clients, PEM",
	"http-addr":    "address of the HTTP server, none to have none (default :15672)",
	"metrics-addr": "address of Prometheus' /metrics, none to have none (default :15692)",
	"data-dir":     "folder for messages and definitions, none to keep them in memory (default leveret-data)",
	"definitions":  "definitions file, or folder of them, to import before anybody can connect; see docs/definitions.md",
	"node-name":    "name of this node (default leveret@ and the host's name)",
	"log-level":    "debug, info, warn or error (default info)",
	"log-format":   "text or json (default text)",
}

// AddFlags declares the flags. They take any text: it is checked where all sources of settings are, with the same words.
func (f *configFlags) AddFlags(flags *pflag.FlagSet) {
	f.values = map[string]*[]string{}
	flags.StringVar(&f.file, "config", "", "configuration file, in the form of rabbitmq.conf (default $LEVERET_CONFIG)")
	for _, flag := range config.Flags() {
		values := new([]string)
		flags.VarP((*settingValue)(values), flag.Name, "", flagHelp[flag.Name])
		f.values[flag.Name] = values
	}
}

// load reads all settings.
func (f *configFlags) load() (*config.Loaded, error) {
	sources := config.Sources{File: f.file, Environ: os.Environ(), Flags: map[string][]string{}}
	if sources.File == "" {
		sources.File = os.Getenv("LEVERET_CONFIG")
	}
	for name, values := range f.values {
		sources.Flags[name] = *values
	}
	return config.Load(sources)
}

// settingValue collects what a flag is given, each time anew.
type settingValue []string

// Set is part of [pflag.Value].
func (v *settingValue) Set(text string) error {
	*v = append(*v, text)
	return nil
}

// String is part of [pflag.Value]; the default is in the help.
func (v *settingValue) String() string { return "" }

// Type is part of [pflag.Value].
func (v *settingValue) Type() string { return "string" }
