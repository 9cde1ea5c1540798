"""The page: play the puzzles, and watch the planner think. `server.make_app` is the whole application."""
