package vhost

// SourcesOfQueue is how many exchanges a queue remembers bindings from.
func (v *VHost) SourcesOfQueue(name string) int { return v.queues.find(name).count() }

// SourcesOfExchange is how many exchanges an exchange remembers bindings from.
func (v *VHost) SourcesOfExchange(name string) int { return v.exchanges.find(name).count() }

func (p *place) count() int {
	p.turn.Lock()
	defer p.turn.Unlock()
	return len(p.sources)
}

// OwnedQueues is how many exclusive queues are on the list of an owner.
func (v *VHost) OwnedQueues(owner Owner) int { return len(v.owned.of(owner)) }

// PolicyKeys are the keys that policies may have.
func PolicyKeys() []string {
	var names []string
	for i := range policyKeys {
		names = append(names, policyKeys[i].name)
	}
	return names
}

// KeptFlows is how many flows are counted, those included that have ended.
func (v *VHost) KeptFlows() int { return len(v.flows.list()) }
