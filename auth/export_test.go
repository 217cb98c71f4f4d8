package auth

// Remembered is how many decisions a handle holds.
func (r *Rights) Remembered() int { return len(r.decided) }
