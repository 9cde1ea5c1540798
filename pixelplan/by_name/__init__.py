"""BY NAME: worlds, models and distances, opened as people name them."""
