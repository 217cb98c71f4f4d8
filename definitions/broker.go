package definitions

import (
	"log/slog"
	"sync"

	"leveret/auth"
	"leveret/server"
)

// Broker is what definitions are taken from and put into. One serves all exports and imports of a broker.
type Broker struct {
	Server *server.Server
	Users  *auth.Authenticator
	// Cluster is the name that an export gives the broker, and Version the RabbitMQ version whose form it has.
	Cluster, Version string
	// Log is told of what an import skips.
	Log *slog.Logger

	importing sync.Mutex // held over an import: two at once would not know which of them found what
}
