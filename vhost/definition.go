package vhost

// definition is what a policy says: values by their keys. A number is an int64 if it is whole, else a float64.
type definition map[string]any

// lowerLimit is the lower one of two delivery limits, where a negative one is none and gives way.
func lowerLimit(a, b int64) int64 {
	if a < 0 || b < 0 {
		return max(a, b)
	}
	return min(a, b)
}
