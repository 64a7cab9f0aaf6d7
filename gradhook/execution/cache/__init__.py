"""What passed before, on what did it depend, and is all of that still as it was?"""
