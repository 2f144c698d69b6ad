"""Training any method: steps, checkpoints, logs, data."""
