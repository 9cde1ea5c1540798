"""WORLDS of others: any Gymnasium environment, noise, and whether an environment fits."""
