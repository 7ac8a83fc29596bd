"""The whole suite as a test sees it: start it, break it, watch it."""
