package management

// clusterName is the name that the broker gives its cluster of one.
func (a *API) clusterName() string { return a.options.Cluster }
