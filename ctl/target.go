package ctl

import (
	"os"
	"path/filepath"
)

// DefaultURL is where a broker on this machine listens without any configuration.
const DefaultURL = "http://127.0.0.1:15672"

// SocketName is the file in a broker's data folder by which whoever may open it administers the broker.
const SocketName = "control.sock"

// Local is the broker that the environment describes, which getenv reads: LEVERET_URL, LEVERET_USER and LEVERET_PASSWORD if it names one; else the control
// socket of this machine's broker, in LEVERET_DATA_DIR, if that is there; else the default address with the default user.
func Local(getenv func(string) string) Options {
	first := func(names ...string) string {
		for _, name := range names {
			if v := getenv(name); v != "" {
				return v
			}
		}
		return ""
	}
	o := Options{URL: getenv("LEVERET_URL"), User: first("LEVERET_USER", "RABBITMQ_DEFAULT_USER"), Password: first("LEVERET_PASSWORD", "RABBITMQ_DEFAULT_PASS"),
		CAFile: getenv("LEVERET_CA_FILE")}
	if o.URL == "" {
		if socket := filepath.Join(getenv("LEVERET_DATA_DIR"), SocketName); getenv("LEVERET_DATA_DIR") != "" && getenv("LEVERET_USER") == "" && isSocket(socket) {
			o.Socket = socket
		}
		o.URL = DefaultURL
	}
	if o.User == "" {
		o.User = "guest"
	}
	if o.Password == "" {
		o.Password = "guest"
	}
	return o
}

// isSocket tells the socket of a broker, which may have ended without removing it: then the call fails and says so.
func isSocket(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().Type() == os.ModeSocket
}
