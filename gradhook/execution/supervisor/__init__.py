"""The parent side of worker processes: start, feed, watch and end them."""
