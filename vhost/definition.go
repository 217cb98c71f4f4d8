package vhost

import "maps"

// definition is what a policy says: values by their keys. A number is an int64 if it is whole, else a float64.
type definition map[string]any

// merge gives what an ordinary and an operator policy say together. Limits of which both have one are the lower one; of anything else that both
// say the operator's word counts.
func merge(ordinary, operator definition) definition {
	if len(operator) == 0 {
		return ordinary
	}
	merged := make(definition, len(ordinary)+len(operator))
	maps.Copy(merged, ordinary)
	for key, value := range operator {
		if mine, ok := ordinary[key]; ok {
			value = mergeValue(key, mine, value)
		}
		merged[key] = value
	}
	return merged
}

// mergeValue is merge for one key that both have.
func mergeValue(key string, ordinary, operator any) any {
	a, aOK := ordinary.(int64)
	b, bOK := operator.(int64)
	if !aOK || !bOK {
		return operator
	}
	switch key {
	case "message-ttl", "expires", "max-length", "max-length-bytes", "max-in-memory-length", "max-in-memory-bytes",
		"delayed-retry-min", "delayed-retry-max", "default-prefetch":
		return min(a, b)
	case "max-prefetch": // 0 is no limit
		if a == 0 || b == 0 {
			return max(a, b)
		}
		return min(a, b)
	case "delivery-limit":
		return lowerLimit(a, b)
	}
	return operator
}

// lowerLimit is the lower one of two delivery limits, where a negative one is none and gives way.
func lowerLimit(a, b int64) int64 {
	if a < 0 || b < 0 {
		return max(a, b)
	}
	return min(a, b)
}
