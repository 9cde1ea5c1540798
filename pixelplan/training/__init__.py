"""TRAINING with a planner in the loop."""
