"""Operating system services: threads, memory, temporary files, atomic writes."""
