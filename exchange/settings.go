package exchange

import (
	"leveret/amqp"
	"leveret/dedup"
)

// ArgAlternate is the argument that names the exchange to which goes what this one cannot route.
const ArgAlternate = "alternate-exchange"

// Settings is what an exchange's arguments and the policies that apply to it make together, beside its type. It may change in the exchange's
// life, by Apply; values of this type do not.
type Settings struct {
	// Alternate names the exchange for what this one cannot route, if there is one.
	Alternate    string
	HasAlternate bool
	// Delay is where messages wait that are not due; nil: the exchange delays nothing.
	Delay Destination
	// Window recognizes duplicates, which are not routed; nil: the exchange does not look for any.
	Window *dedup.Window
}

// SettingsOf are the settings that follow from the arguments of a declare alone.
func SettingsOf(arguments amqp.Table) (s Settings) {
	if v, ok := arguments.Get(ArgAlternate); ok {
		s.Alternate, s.HasAlternate = v.(string)
	}
	return s
}

// plain reports whether an exchange with these settings looks at no more of a message than its type does.
func (s *Settings) plain() bool { return s.Delay == nil && s.Window == nil }

// Settings are those that hold now. Any goroutine may ask.
func (x *Exchange) Settings() Settings { return *x.settings.Load() }

// Apply gives the exchange other settings. All routes that were read from it are invalid then. Any goroutine may call it; the last call counts.
func (x *Exchange) Apply(s Settings) {
	x.settings.Store(&s)
	x.mu.Lock()
	x.changed()
	x.mu.Unlock()
}
