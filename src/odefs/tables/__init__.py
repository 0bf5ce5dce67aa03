"""Tables: readers, the encoder of mixed columns, detections with reasons, and writers."""
