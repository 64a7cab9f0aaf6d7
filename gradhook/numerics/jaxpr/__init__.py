"""Read and run the equations of a traced function."""
