"""One module a kind of job; worker.py's table names them."""
