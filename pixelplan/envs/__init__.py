"""LEVELS: what a world is to recording, judging and showing."""
